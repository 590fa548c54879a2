"""
A hundred ways to be wrong: the model with one thing broken in each, and a few that are odd but right.

They show that the judge can tell: `conformance mutants` runs them all.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from adapters.mutants.alignment import ALIGNMENT
from adapters.mutants.atomicity import ATOMICITY
from adapters.mutants.correct import CORRECT
from adapters.mutants.liveness import LIVENESS
from adapters.mutants.machine import Machine, describe
from adapters.mutants.output import OUTPUT
from adapters.mutants.recovery import RECOVERY
from adapters.mutants.snapshots import SNAPSHOTS
from adapters.mutants.streams import STREAMS
from conformance.engine import Description, Job
from conformance.errors import UnknownEngine
from conformance.observation import Observations


def name(machine: type[Machine]) -> str:
    """A mutant's name on the command line: `OvertakesTheBorder` is `overtakes-the-border`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", machine.__name__).lower()


GROUPS: dict[str, tuple[type[Machine], ...]] = {
    "alignment": ALIGNMENT,
    "snapshot": SNAPSHOTS,
    "recovery": RECOVERY,
    "streams": STREAMS,
    "output": OUTPUT,
    "atomicity": ATOMICITY,
    "liveness": LIVENESS,
}
"""Every mutant, by the rule it breaks."""

MUTANTS = {name(machine): machine for group in GROUPS.values() for machine in group}
ODD = {name(machine): machine for machine in CORRECT}


class Mutant:
    """`mutant:NAME`: one of them as an engine; `mutant` alone is the machine unbroken."""

    def __init__(self, settings: Sequence[str]) -> None:
        machines = MUTANTS | ODD
        (wanted, *others) = settings or ["plain"]
        if others or wanted not in machines:
            close = get_close_matches(wanted, machines, n=3) or list(machines)[:3]
            raise UnknownEngine(
                f"there is no mutant {','.join(settings)!r}; near it are {', '.join(close)}, "
                f"and `conformance mutants` lists all {len(machines)}"
            )
        self.machine = machines[wanted]

    def start(self) -> Description:
        return describe(self.machine)

    def run(self, jobs: Sequence[Job]) -> Iterator[Observations]:
        for job in jobs:
            yield self.machine(job).run()

    def stop(self) -> None:
        """Nothing was started."""
