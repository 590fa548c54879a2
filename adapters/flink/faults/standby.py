"""Workers of a cluster from which workers are killed."""

from random import Random

from conformance.adapters.flink.faults.context import FaultContext
from conformance.adapters.flink.roles import WORKERS
from conformance.case import Failure, Kill
from conformance.codec import digest
from conformance.engine import RunRequest


def has_standby(request: RunRequest) -> bool:
    """Tell whether a case has one worker more than it needs, for as long as workers of it are to be killed."""
    if not any(map(_kills_worker, request.case.failures)):
        return False
    return Random(f"standby/{request.seed}/{digest(request.case)}").random() < 1 / 2


class WorkerSupply:
    """Replaces the workers that were killed."""

    def __init__(self, context: FaultContext) -> None:
        self._failures = context.run.request.case.failures
        self._cluster = context.cluster
        self._has_standby = has_standby(context.run.request)

    def update(self, number: int) -> None:
        """Start the workers that are missing, when that many failures of the case have happened."""
        standbys = self._has_standby and any(map(_kills_worker, self._failures[number:]))
        for _ in range(WORKERS + standbys - len(self._cluster.workers)):
            self._cluster.start_worker()


def _kills_worker(failure: Failure) -> bool:
    return isinstance(failure, Kill) and failure.target == "worker"
