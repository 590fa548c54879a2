"""Checkpoint blockers: operators that keep a checkpoint from being complete while they wait at their gate."""

from attrs import define, field, frozen

from conformance.adapters.flink.faults.context import FaultContext
from conformance.adapters.flink.job import BLOCKER, SINK
from conformance.adapters.flink.messages import BlockCheckpoint, Gate
from conformance.adapters.flink.standalone import ClusterNode


@frozen
class KillPlan:
    """The worker to be killed, the blocker that blocks the checkpoint, and the worker to be suspended."""

    victim: ClusterNode
    blocker: str
    attempt: str
    """The blocker's attempt."""
    suspended: ClusterNode
    """A worker with a sink and without the blocker, which a fault before the commit suspends."""


@define
class Blockers:
    """The checkpoint blockers of a case, of which one blocks at a time."""

    _context: FaultContext
    _plan: KillPlan | None = None
    _blocked: dict[str, int] = field(factory=dict)
    """By attempt of a blocker, how often it was told to block."""

    @property
    def plan(self) -> KillPlan | None:
        """The current plan. It is dropped when its blocker has failed."""
        if self._plan is not None and self._context.run.progress.attempts.get(self._plan.blocker) != self._plan.attempt:
            self._plan = None
        return self._plan

    @property
    def blocking_plan(self) -> KillPlan | None:
        """The current plan, if its blocker waits at its gate."""
        plan = self.plan
        is_blocking = plan is not None and (plan.blocker, Gate.CHECKPOINT) in self._context.run.progress.waiting
        return plan if is_blocking else None

    def block(self, *, kill_suspended: bool) -> None:
        """Plan a kill, and let a blocker block that is not on the worker to be suspended; unless there is a plan."""
        progress, random = self._context.run.progress, self._context.random
        if self.plan is not None:
            return
        chains = self._context.workers_by_chain()
        blockers = {name.partition("/")[2]: worker for name, worker in chains.items() if f"/{BLOCKER}:" in name}
        workers = self._context.workers(chains.values())
        sinks = self._context.workers([worker for name, worker in chains.items() if f"/{SINK}:" in name])
        if not blockers or not sinks or not set(blockers) <= progress.attempts.keys():
            return
        suspended = random.choice(sinks)
        victim = suspended if kill_suspended else random.choice(workers)
        elsewhere = sorted(name for name, worker in blockers.items() if worker != suspended.name)
        if elsewhere:
            blocker = random.choice(elsewhere)
            attempt = progress.attempts[blocker]
            progress.channel.signal(BlockCheckpoint(attempt, self._blocked.setdefault(attempt, 0)))
            self._blocked[attempt] += 1
            self._plan = KillPlan(victim, blocker, attempt, suspended)

    def release(self) -> None:
        """Release every blocker that waits, and drop the plan."""
        progress = self._context.run.progress
        for operator, gate in list(progress.waiting):
            if gate is Gate.CHECKPOINT:
                progress.release_gate(operator, gate)
        self._plan = None
