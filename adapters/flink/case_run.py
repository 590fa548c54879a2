"""Cases of a job while they run: how far each is, what was observed of it, and which failures it has had."""

from collections.abc import Collection, Iterator
from time import time

from attrs import define, field, frozen

from conformance.adapters.faults import next_failure
from conformance.adapters.flink.deployment import CaseDeployment
from conformance.adapters.flink.messages import source_name
from conformance.adapters.flink.progress import Progress
from conformance.adapters.flink.setup import FlinkSetup
from conformance.case import Failure, Restart
from conformance.engine import RunRequest
from conformance.observation import Fired, Observation

RESTORE_SECONDS = 0.3
"""Seconds within which operators that are restored together have all opened."""


@define
class CaseRun:
    """A case that runs, or has run."""

    request: RunRequest
    deployment: CaseDeployment
    progress: Progress
    plays_ahead: bool
    observations: list[Observation] = field(factory=list)
    fired: list[Fired] = field(factory=list)
    overlapped: set[int] = field(factory=set)
    """The epochs that were in flight together with the next one."""
    in_flight: int = 0
    """Bytes of in-flight messages that its checkpoints hold."""
    failed_at: float = 0.0
    """When it last failed (Unix time)."""
    failed_operators: Collection[str] = ()
    """The operators that failed then, if these are known."""

    @property
    def next_failure(self) -> Failure | None:
        """The failure of the case that is to happen next."""
        return next_failure(self.request.case.failures, len(self.fired))

    @property
    def sources(self) -> dict[str, str]:
        """By source operator, its current attempt."""
        names = map(source_name, self.request.case.graph.sources)
        return {name: self.progress.attempts[name] for name in names if name in self.progress.attempts}

    def record_failure(self, when: float, operators: Collection[str]) -> None:
        """
        Record when the case failed and which operators did.

        The gate controller then releases waiting operators, because Flink cannot restore a region before they exit.
        """
        self.failed_at, self.failed_operators = when, operators

    def is_to_be_restored(self, operator: str, since: float) -> bool:
        """
        Tell whether an operator that has waited since then belongs to an attempt of the case that has failed.

        It does if it opened before the failure. It may also if it opened later, because operators do not all open at
        once. Then the operators that failed have not opened again, although they have had the time to.
        """
        opened_at = self.progress.opened_at
        down = any(opened_at.get(each, self.failed_at) < self.failed_at for each in self.failed_operators)
        return opened_at[operator] < self.failed_at or (down and time() > since + RESTORE_SECONDS)

    def has_played(self, epoch: int) -> bool:
        """Tell whether all sources have passed a border, each in its current attempt."""
        last = min(epoch, self.request.case.epochs)
        names = map(source_name, self.request.case.graph.sources)
        return all(self.progress.passed.get(name, -1) >= last for name in names)

    def has_passed(self, epoch: int) -> bool:
        """Tell whether all tasks have passed a border."""
        return all(self.progress.passed.get(name, 0) >= epoch for name in self.deployment.tasks)


@frozen
class CaseRuns:
    """The cases of one job."""

    runs: tuple[CaseRun, ...]
    setup: FlinkSetup

    def __iter__(self) -> Iterator[CaseRun]:
        return iter(self.runs)

    @property
    def is_alone(self) -> bool:
        """Whether the job has a single case."""
        return len(self.runs) == 1

    @property
    def epochs(self) -> int:
        """The epochs of the longest case."""
        return max(run.request.case.epochs for run in self.runs)

    @property
    def fired(self) -> int:
        """How many failures have happened."""
        return sum(len(run.fired) for run in self.runs)

    def update(self) -> None:
        """Read the reports of all operators."""
        for run in self.runs:
            run.progress.update()

    def release_all_gates(self) -> None:
        """Let every operator of every case go on."""
        for run in self.runs:
            run.progress.release_all_gates()

    def awaits_restart(self, epoch: int) -> bool:
        """Tell whether the job is to be restarted once this epoch is committed."""
        failures = [run.next_failure for run in self.runs]
        return any(isinstance(failure, Restart) and failure.epoch == epoch for failure in failures)

    def may_play_ahead(self, run: CaseRun, epoch: int) -> bool:
        """
        Tell whether a case's sources may play the epoch behind this one before this one is committed.

        In a shared job they may not if a failure is due, in this epoch or, of the case itself, in the next one.
        """
        if (
            self.setup.has_own_epochs
            or not run.plays_ahead
            or epoch >= run.request.case.epochs
            or self.awaits_restart(epoch)
        ):
            return False
        if self.is_alone:
            return True
        failures = [(each is run, each.next_failure) for each in self.runs]
        return not any(failure and failure.epoch <= epoch + is_its_own for is_its_own, failure in failures)
