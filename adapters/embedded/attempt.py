"""One process of an engine that is a library: what it is to run, and what the engine's own code does in it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, TypeAlias

from attrs import frozen

from conformance.adapters.embedded.strike import Strike
from conformance.case import Case
from conformance.programs import Event

Row: TypeAlias = tuple[int, Event | None]
"""An event of a stream with the epoch of the case that it belongs to; None is the border that closes that epoch."""


@frozen
class Attempt:
    """
    A case from what is durable in `folder`, up to the end of epoch `until`; then the process ends in good order.

    Or earlier, and not in good order, if there is a failure to die of.
    """

    number: int
    folder: Path
    case: Case
    streams: frozenset[str]
    until: int
    seed: int
    strike: Strike | None = None

    def about_to(self, task: str, epoch: int, place: int | str, handled: int) -> None:
        """A task is about to handle an event, or to pass a border after so many."""
        if self.strike is not None:
            self.strike.at(task, epoch, place, handled)

    def saves(self, task: str | None, epoch: int) -> None:
        """The state of a task at the end of an epoch is about to be saved; of all of them, if none is named."""
        if self.strike is not None:
            self.strike.in_snapshot(task, epoch)

    def restores(self, epoch: int, what: str) -> None:
        """Something is being restored, to go on with that epoch."""
        if self.strike is not None and self.number > 0:
            self.strike.in_recovery(epoch, what)


class Library(Protocol):
    """What is particular to an engine. It is sent to the process that runs it."""

    def prepare(self, folder: Path) -> None:
        """Make of an empty folder one that an attempt can begin in."""
        ...

    def work(self, attempt: Attempt) -> None:
        """Run the dataflow in this process."""
        ...

    def committed(self, folder: Path, case: Case) -> int:
        """How many epochs of the case are behind the point that the engine would go on from, were it to die now."""
        ...

    def rows(self, folder: Path, stream: str) -> Iterable[Row]:
        """All that stands where the engine writes a stream to, in its order."""
        ...
