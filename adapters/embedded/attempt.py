"""One process of an embedded engine: what the process runs, and the interface of the engine's own code."""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, TypeAlias

from attrs import frozen

from conformance.adapters.embedded.process_fault import ProcessFault
from conformance.adapters.faults import TaskPosition
from conformance.case import Case
from conformance.programs import Event

Row: TypeAlias = tuple[int, Event | None]
"""An event of a stream with the epoch of the case that it belongs to; None is the border that closes that epoch."""


@frozen
class Attempt:
    """
    One execution of a case in a process: from the durable state in `folder` to the end of epoch `until`.

    The process exits normally then, or fails earlier if the attempt has a fault. The engine's code calls the methods
    at the points where a fault can happen.
    """

    number: int
    folder: Path
    case: Case
    streams: frozenset[str]
    until: int
    seed: int
    fault: ProcessFault | None = None

    def before(self, position: TaskPosition) -> None:
        """Announce that a task is about to handle an event or a border."""
        if self.fault is not None:
            self.fault.before(position)

    def before_snapshot(self, task: str | None, epoch: int) -> None:
        """Announce that the state of a task (None: of all tasks) is about to be saved at the end of an epoch."""
        if self.fault is not None:
            self.fault.before_snapshot(task, epoch)

    def during_recovery(self, epoch: int, part: str) -> None:
        """Announce that a part of the state is being restored, to continue with that epoch."""
        if self.fault is not None and self.number > 0:
            self.fault.during_recovery(epoch, part)


class Library(Protocol):
    """The code that is particular to an engine. It is pickled into the process that runs the engine."""

    def prepare(self, folder: Path) -> None:
        """Set up an empty folder for the first attempt."""
        ...

    def run_attempt(self, attempt: Attempt) -> None:
        """Run the dataflow in this process."""
        ...

    def committed_epochs(self, folder: Path, case: Case) -> int:
        """Count the epochs of the case before the point from which the engine would resume if it died now."""
        ...

    def rows(self, folder: Path, stream: str) -> Iterable[Row]:
        """Return all rows that the engine has written of a stream, in their order."""
        ...
