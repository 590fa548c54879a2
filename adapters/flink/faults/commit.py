"""
Faults between the completion of a checkpoint and its commit.

When all tasks but a blocker are done with a checkpoint, a worker with a sink is suspended (SIGSTOP) and the blocker is
released. So the checkpoint is complete, and the suspended worker cannot commit its files.
"""

import logging

from attrs import frozen

from conformance.adapters.flink.faults.blockers import KillPlan
from conformance.adapters.flink.faults.context import CheckpointUnderWay
from conformance.adapters.flink.faults.phase import Inject
from conformance.adapters.flink.faults.snapshot import BlockedPhase
from conformance.adapters.flink.messages import Gate

LOGGER = logging.getLogger("conformance.adapters.flink")


@frozen
class CommitPhase(BlockedPhase):
    """When a checkpoint is complete and not all of its files are committed."""

    kills_suspended = True

    def _inject(self, inject: Inject, plan: KillPlan, checkpoint: CheckpointUnderWay, *, others_done: bool) -> None:
        if not others_done:
            return
        committed = self.context.checkpoints.committed
        plan.suspended.suspend()
        LOGGER.info("cluster: suspended %s", plan.suspended.description)
        try:
            self.context.run.progress.release_gate(plan.blocker, Gate.CHECKPOINT)
            if self.context.completes(checkpoint.number):
                files = committed.files(committed.checkpoint(checkpoint.number))
                hidden = sum(not path.exists() for path in files)
                if hidden:
                    moment = f"checkpoint {checkpoint.number} was complete, and {hidden} of its {len(files)} files"
                    inject(plan.victim, f"{moment} were not there")
        finally:
            self.blockers.release()
            if plan.suspended.is_alive:
                plan.suspended.resume()
                LOGGER.info("cluster: resumed %s", plan.suspended.description)
