"""How well the suite tells: engines that are broken on purpose, and whether the same cases convict them."""

from attrs import frozen

from conformance.adapters.mutants import GROUPS, name
from conformance.reports.runs import Run


@frozen
class Broken:
    """A broken engine."""

    name: str
    about: str
    convicted: bool


@frozen
class Sensitivity:
    """All of them, by what they break, and by how many cases they were tried."""

    word: str
    cases: int
    convicted: int
    groups: dict[str, tuple[Broken, ...]]

    @property
    def all(self) -> int:
        """How many there are."""
        return sum(map(len, self.groups.values()))


def sensitivity(run: Run) -> Sensitivity | None:
    """What the campaign measured of itself; None if it has not come to that."""
    measured = run.tally.measured
    if measured is None:
        return None
    groups = {
        group: tuple(
            Broken(name(machine), (machine.__doc__ or "").strip(), name(machine) not in measured.survived)
            for machine in machines
        )
        for group, machines in GROUPS.items()
    }
    return Sensitivity(run.word, measured.cases, measured.killed, groups)
