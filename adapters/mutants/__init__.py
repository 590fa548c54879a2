"""
Mutants: the model with one thing broken in each, and a few unusual variants that are correct.

They measure whether the judge finds violations: `conformance mutants` runs them all.
"""

import re
from collections.abc import Iterator, Sequence

from conformance.adapters.mutants.alignment import ALIGNMENT
from conformance.adapters.mutants.atomicity import ATOMICITY
from conformance.adapters.mutants.correct import CORRECT
from conformance.adapters.mutants.liveness import LIVENESS
from conformance.adapters.mutants.machine import Machine, describe
from conformance.adapters.mutants.output import OUTPUT
from conformance.adapters.mutants.recovery import RECOVERY
from conformance.adapters.mutants.snapshots import SNAPSHOTS
from conformance.adapters.mutants.streams import STREAMS
from conformance.engine import Description, RunRequest
from conformance.errors import UnknownEngine, nearest
from conformance.observation import Observations


def name(machine: type[Machine]) -> str:
    """Name a mutant as on the command line: `OvertakesTheBorder` is `overtakes-the-border`."""
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
    """`mutant:NAME`: a mutant as an engine; `mutant` alone is the unbroken machine."""

    def __init__(self, settings: Sequence[str]) -> None:
        machines = MUTANTS | ODD
        (wanted, *others) = settings or ["plain"]
        if others or wanted not in machines:
            close = nearest(wanted, machines, 3) or list(machines)[:3]
            raise UnknownEngine(
                f"there is no mutant {','.join(settings)!r}; near it are {', '.join(close)}, "
                f"and `conformance mutants` lists all {len(machines)}"
            )
        self.machine = machines[wanted]

    def start(self) -> Description:
        return describe(self.machine)

    def run(self, requests: Sequence[RunRequest]) -> Iterator[Observations]:
        for request in requests:
            yield self.machine(request).run()

    def stop(self) -> None:
        """Nothing was started."""
