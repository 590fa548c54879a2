"""
Fault injection that is the same for every engine: crashes within tasks, and evidence of each failure.

The failures of a case happen in their order, each once, and leave a file each as evidence. A task writes the evidence
before it fails. So the number of evidence files says which failure is next, in every process.
"""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from attrs import frozen

from conformance.case import BORDER, Crash, Failure

EVIDENCE = "evidence"
"""The folder, within that of a run, of the evidence of its failures."""


class InjectedCrash(RuntimeError):
    """The exception that a case asks a task to raise."""


@frozen
class TaskPosition:
    """A task that has handled `handled` events of an epoch, and is about to handle the next event or the border."""

    task: str
    epoch: int
    handled: int
    is_border: bool = False

    def __str__(self) -> str:
        following = "its border" if self.is_border else f"event {self.handled}"
        return f"{self.task} in epoch {self.epoch}, before {following}"

    def matches(self, task: str, epoch: int, event: int | str) -> bool:
        """
        Tell whether a failure before this event (an index, or "border") of a task and epoch happens here.

        An event that the task never receives in that epoch stands for the border.
        """
        if (task, epoch) != (self.task, self.epoch):
            return False
        if self.is_border:
            return event == BORDER or int(event) >= self.handled
        return event == self.handled


@frozen
class Evidence:
    """When (Unix time) and how a failure was injected."""

    time: float
    description: str


@frozen
class EvidenceLog:
    """
    The evidence of the failures of one case: a file for each failure, in a folder that several cases can share.

    A file appears with all of its content, is never changed, and is created by one process only. The log has no other
    state, so it can be sent to the processes in which failures happen.
    """

    folder: str
    case: int = 0

    def prepare(self) -> None:
        """Make the folder."""
        Path(self.folder).mkdir(parents=True, exist_ok=True)

    def name(self, failure: int) -> str:
        """Return the name of the evidence file of the failure with that number."""
        return f"{self.case}-{failure}"

    def _path(self, failure: int) -> str:
        return os.path.join(self.folder, self.name(failure))  # noqa: PTH118 - called for each event

    def record(self, failure: int, description: str) -> bool:
        """
        Write the evidence of a failure, and tell whether this call wrote it.

        Only then may the caller cause the failure: of several processes that try, one does.
        """
        complete = Path(self.folder, f".{self.name(failure)}-{uuid4().hex}")
        complete.write_text(f"{time.time():.4f} {description}", encoding="utf-8")
        try:
            os.link(complete, self._path(failure))
        except FileExistsError:
            return False
        finally:
            complete.unlink()
        return True

    def has(self, failure: int) -> bool:
        """Tell whether a failure was injected."""
        return os.path.exists(self._path(failure))  # noqa: PTH110 - called for each event

    def count(self) -> int:
        """Count the failures that were injected; failures happen in their order, so these are the first ones."""
        number = 0
        while self.has(number):
            number += 1
        return number

    def read(self, failure: int) -> Evidence:
        """Read the evidence of a failure that was injected."""
        injected, _, description = Path(self._path(failure)).read_text(encoding="utf-8").partition(" ")
        return Evidence(float(injected), description)


def next_failure(failures: Sequence[Failure], injected: int) -> Failure | None:
    """Return the failure that follows the first `injected` ones, or None if there is no other."""
    return failures[injected] if injected < len(failures) else None


def is_crash_due(failure: Failure | None, position: TaskPosition) -> bool:
    """Tell whether a failure is a crash that happens at this position."""
    return isinstance(failure, Crash) and position.matches(failure.task, failure.epoch, failure.event)


def inject_crash(evidence: EvidenceLog, failure: int, position: TaskPosition) -> None:
    """Record the failure with that number as a crash at this position and raise it, unless it is recorded already."""
    if evidence.record(failure, f"an exception in {position} (process {os.getpid()})"):
        raise InjectedCrash(str(position))
