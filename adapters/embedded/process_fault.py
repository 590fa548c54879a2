"""
The failure that ends one process of an embedded engine.

Each failure ends the process, so an attempt has at most one. A crash is an exception in a task, which ends the process
because nothing catches it. A kill is a SIGKILL that the process sends itself: in a task, while the engine saves state,
or while it restores state.
"""

import os
import signal
from random import Random

from attrs import frozen

from conformance.adapters.faults import EvidenceLog, TaskPosition, inject_crash
from conformance.case import BORDER, Case, Crash, Failure, Kill
from conformance.codec import digest


@frozen
class ProcessFault:
    """
    A failure of a case, its number there, and its position: before an event (or the border) of a task.

    A crash names its position. The position of a kill is chosen, so that kills happen at all points of an epoch.
    """

    evidence: EvidenceLog
    number: int
    failure: Failure
    task: str
    event: int | str

    def before(self, position: TaskPosition) -> None:
        """Fail if the position is that of the failure."""
        if self._phase == "processing" and position.matches(self.task, self.failure.epoch, self.event):
            if isinstance(self.failure, Crash):
                inject_crash(self.evidence, self.number, position)
            else:
                self._kill(f"in {position}")

    def before_snapshot(self, task: str | None, epoch: int) -> None:
        """Fail if the engine is to be killed before it saves this task (None: all tasks) at the end of an epoch."""
        if self._phase == "snapshot" and self.failure.epoch == epoch and task in {self.task, None}:
            self._kill(f"when the state of {task or 'all tasks'} was to be saved at the end of epoch {epoch}")

    def during_recovery(self, epoch: int, part: str) -> None:
        """Fail if the engine is to be killed while it restores a part of its state to continue with this epoch."""
        if self._phase == "recovery" and epoch >= self.failure.epoch:
            self._kill(f"when {part} was restored")

    @property
    def _phase(self) -> str:
        match self.failure:
            case Crash():
                return "processing"
            case Kill() as kill:
                return kill.effective_phase
        return "none"

    def _kill(self, circumstances: str) -> None:
        if self.evidence.record(self.number, f"SIGKILL of process {os.getpid()} {circumstances}"):
            os.kill(os.getpid(), signal.SIGKILL)


def plan_fault(case: Case, number: int, seed: int, evidence: EvidenceLog) -> ProcessFault:
    """Return the failure of a case with that number, at its position."""
    failure = case.failures[number]
    if isinstance(failure, Crash):
        return ProcessFault(evidence, number, failure, failure.task, failure.event)
    chance = Random(f"{seed}/{digest(case)}/{number}")
    events: list[int | str] = [0, 1, 2, BORDER]
    return ProcessFault(evidence, number, failure, chance.choice(case.graph.tasks).name, chance.choice(events))
