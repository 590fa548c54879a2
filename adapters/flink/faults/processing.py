"""Faults while an epoch is processed. The driver requests checkpoints itself, so it keeps this window open."""

from attrs import frozen

from conformance.adapters.flink.faults.phase import FaultPhase, Inject
from conformance.adapters.flink.messages import source_name


@frozen
class ProcessingPhase(FaultPhase):
    """Before the checkpoint of an epoch: when a source has played it or, late, when no task can go on."""

    def delays_checkpoint(self) -> bool:
        return True

    def keeps_gates_closed(self) -> bool:
        return True

    def inject_if_due(self, inject: Inject) -> None:
        progress, graph = self.context.run.progress, self.context.run.request.case.graph
        played = [each for each in graph.sources if progress.passed.get(source_name(each), -1) >= self.epoch]
        waiting = [name for (name, _), each in progress.waiting.items() if each.number == self.epoch]
        passed = all(progress.passed.get(task.name, 0) >= self.epoch for task in graph.tasks)
        is_late = len(played) == len(graph.sources) and (waiting or passed)
        if not (played if self.is_early else is_late):
            return
        workers = self.context.workers(self.context.workers_by_chain().values())
        if not workers:
            return
        moment = f"epoch {self.epoch} was in flight: {', '.join(played)} had been played"
        if waiting:
            moment += f", {', '.join(sorted(set(waiting)))} stood before its border"
        inject(self.context.random.choice(workers), f"{moment}, and no checkpoint had been asked for")
