"""Faults while a checkpoint is under way. A checkpoint blocker keeps this window open."""

from abc import abstractmethod
from typing import ClassVar

from attrs import frozen

from conformance.adapters.flink.faults.blockers import Blockers, KillPlan
from conformance.adapters.flink.faults.context import CheckpointUnderWay
from conformance.adapters.flink.faults.phase import FaultPhase, Inject


@frozen
class BlockedPhase(FaultPhase):
    """A phase whose checkpoint is requested once a blocker blocks."""

    blockers: Blockers
    kills_suspended: ClassVar[bool]

    def delays_checkpoint(self) -> bool:
        return self.blockers.blocking_plan is None

    def inject_if_due(self, inject: Inject) -> None:
        plan = self.blockers.blocking_plan
        if plan is None:
            self.blockers.block(kill_suspended=self.kills_suspended)
        elif (checkpoint := self.context.checkpoint_under_way()) is not None:
            blocked = {self.context.run.deployment.flink_name(plan.blocker)}
            self._inject(inject, plan, checkpoint, others_done=checkpoint.chains - blocked <= checkpoint.done)

    @abstractmethod
    def _inject(self, inject: Inject, plan: KillPlan, checkpoint: CheckpointUnderWay, *, others_done: bool) -> None: ...


@frozen
class SnapshotPhase(BlockedPhase):
    """While a checkpoint is under way: as soon as it is or, late, when all tasks but the blocker are done with it."""

    kills_suspended = False

    def keeps_gates_closed(self) -> bool:
        return self.is_early

    def _inject(self, inject: Inject, plan: KillPlan, checkpoint: CheckpointUnderWay, *, others_done: bool) -> None:
        if self.is_early or others_done:
            done, number = len(checkpoint.done), len(checkpoint.chains)
            inject(
                plan.victim,
                f"checkpoint {checkpoint.number} was under way: {done} of {number} tasks were done with it",
            )
