"""Faults while operators are restored. Operators that wait before they open keep this window open."""

from attrs import frozen

from conformance.adapters.flink.faults.context import FaultContext
from conformance.adapters.flink.faults.phase import FaultPhase, Inject
from conformance.adapters.flink.messages import DelayRestore, source_name
from conformance.case import Failure, Kill


@frozen
class RecoveryPhase(FaultPhase):
    """While tasks are restored after the failure before."""

    def is_reached(self, closed_epochs: int) -> bool:  # noqa: ARG002 - it follows another failure
        return bool(self.context.run.progress.opening)

    def inject_if_due(self, inject: Inject) -> None:
        vertices = self.context.vertices()
        restored = [vertex for vertex in vertices if vertex["status"] == "INITIALIZING"]
        workers = self.context.workers({self.context.worker_of(vertex["id"]) for vertex in restored})
        if workers:
            moment = f"{len(restored)} of {len(vertices)} tasks were being restored after failure {self.number - 1}"
            inject(self.context.random.choice(workers), moment)


@frozen
class RestoreDelay:
    """Delays the restore of operators before a fault that is to be injected while they are restored."""

    context: FaultContext

    def update(self, number: int) -> None:
        """Delay restores if that is due, when that many failures have happened; otherwise do not."""
        failures = self.context.run.request.case.failures
        progress = self.context.run.progress
        is_now = number > 0 and _is_in_recovery(failures[number : number + 1])
        is_next = _is_in_recovery(failures[number + 1 : number + 2]) and self._all_open() and not progress.opening
        if not (is_now or is_next):
            self.stop()
        elif not progress.channel.is_signalled(DelayRestore()):
            progress.channel.signal(DelayRestore())

    def _all_open(self) -> bool:
        graph = self.context.run.request.case.graph
        names = {*map(source_name, graph.sources), *(task.name for task in graph.tasks)}
        return names <= self.context.run.progress.attempts.keys()

    def stop(self) -> None:
        """Let all operators open."""
        self.context.run.progress.channel.revoke(DelayRestore())


def _is_in_recovery(failures: tuple[Failure, ...]) -> bool:
    return any(isinstance(failure, Kill) and failure.phase == "recovery" for failure in failures)
