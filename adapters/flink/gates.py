"""Controller of the gates at which tasks wait."""

from time import time

from attrs import frozen

from conformance.adapters.flink.case_run import CaseRun, CaseRuns
from conformance.adapters.flink.faults import FaultInjector
from conformance.adapters.flink.messages import Gate
from conformance.adapters.flink.progress import WaitingOperator
from conformance.adapters.flink.schedule import independent_tasks

IDLE_SECONDS = {Gate.EPOCH_START: 0.1, Gate.BORDER: 0.02}
"""
Idle seconds after which operators with open gates count as finished.

The gates at the start of an epoch are the case's own. Those at borders are ours, so that epochs overlap.
"""

OWN_EPOCHS_IDLE_SECONDS = 0.15
"""The same where Flink places the borders: meanwhile some of its own checkpoints begin."""


@frozen
class GateController:
    """
    Releases waiting tasks.

    A task of a failed attempt is released at once; any other, when no task that is independent of it can go on.
    """

    cases: CaseRuns
    faults: FaultInjector

    def step(self, closed_epochs: int) -> None:
        """Release the gates that need not be closed any more."""
        for run in self.cases:
            self._release_gates(run, closed_epochs)

    def _release_gates(self, run: CaseRun, closed_epochs: int) -> None:
        for (operator, gate), waiting in list(run.progress.waiting.items()):
            if gate is Gate.CHECKPOINT:
                continue  # The fault injector releases it.
            if run.is_to_be_restored(operator, waiting.since):
                run.progress.release_gate(operator, gate)
            elif not self.faults.keeps_gate_closed(waiting.number):
                self._release_if_others_finished(run, operator, gate, waiting, closed_epochs)

    def _release_if_others_finished(
        self, run: CaseRun, operator: str, gate: Gate, waiting: WaitingOperator, closed_epochs: int
    ) -> None:
        epoch = waiting.number
        idle = time() - max(run.progress.last_report, waiting.since)
        if self.cases.may_play_ahead(run, epoch) and epoch > closed_epochs:
            if idle > IDLE_SECONDS[gate] and run.has_played(epoch + 1) and self._others_have_passed(run, epoch + 1):
                run.overlapped.add(epoch)
                run.progress.release_gate(operator, gate)
        elif gate is Gate.BORDER or idle > self._start_idle_seconds:
            run.progress.release_gate(operator, gate)

    @property
    def _start_idle_seconds(self) -> float:
        return OWN_EPOCHS_IDLE_SECONDS if self.cases.setup.has_own_epochs else IDLE_SECONDS[Gate.EPOCH_START]

    @staticmethod
    def _others_have_passed(run: CaseRun, epoch: int) -> bool:
        """Tell whether the tasks that do not depend on a waiting one have passed a border."""
        waiting = run.deployment.with_branches(name for name, _ in run.progress.waiting)
        others = run.deployment.tasks & set(independent_tasks(run.request.case, waiting))
        return all(run.progress.passed.get(task, 0) >= epoch for task in others)
