"""
Schedule of a batch: which cases share a job, which gates their tasks have, and when sources play an epoch ahead.

A task that crashes takes only the operators of its own case down, so cases whose only failures are crashes share a job
and its checkpoints. Cases that are restarted share a job with others that are restarted after the same epochs.

A crash makes a checkpoint fail for every case of a job. A source that plays the next epoch while the checkpoint is
under way has then gone too far, unless it is restored as well. So in a shared job sources play ahead only while no case
is about to crash. Cases that both hold tasks back and crash have to crash while sources are ahead; these run alone.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise
from math import ceil
from random import Random

from attrs import frozen

from conformance.adapters.flink.messages import Gate, GateEpochs
from conformance.case import Case, Crash, Restart, Task
from conformance.engine import RunRequest, batch_seconds

CONCURRENT_JOBS = 4

CASES_PER_JOB = 12
"""Cases that share a job at most."""

AHEAD_SHARE = 0.9
"""Share of cases whose sources play the next epoch while the checkpoint of the epoch before is under way."""


@frozen
class JobGroup:
    """Run requests that share a Flink job."""

    requests: tuple[RunRequest, ...]

    @property
    def is_alone(self) -> bool:
        """Whether the job runs a single case."""
        return len(self.requests) == 1

    @property
    def length(self) -> tuple[int, int]:
        """The epochs and failures of the longest case."""
        return max(map(_length, self.requests))


def group_requests(requests: Sequence[RunRequest]) -> list[JobGroup]:
    """
    Group the requests of a batch into jobs.

    Similar cases share a job, because a job has as many epochs as the longest of its cases and is disturbed by every
    crash. The longest jobs come first, so that none of them is started last.
    """
    compatible: dict[object, list[RunRequest]] = {}
    for request in requests:
        compatible.setdefault(_compatibility(request), []).append(request)
    found = [JobGroup(tuple(some)) for each in compatible.values() for some in _slices(sorted(each, key=_length))]
    return sorted(found, key=lambda group: group.length, reverse=True)


def _length(request: RunRequest) -> tuple[int, int]:
    return request.case.epochs, len(request.case.failures)


def _slices(requests: Sequence[RunRequest]) -> list[Sequence[RunRequest]]:
    """Divide into as few slices as possible, of about the same size."""
    number = ceil(len(requests) / CASES_PER_JOB)
    ends = [len(requests) * n // number for n in range(number + 1)]
    return [requests[begin:end] for begin, end in pairwise(ends)]


def _compatibility(request: RunRequest) -> object:
    """Return a key that is equal for requests that can share a job: the id of a request that cannot."""
    case = request.case
    if not all(isinstance(failure, Crash | Restart) for failure in case.failures):
        return request.id
    if case.holds and any(isinstance(failure, Crash) for failure in case.failures):
        return request.id
    return tuple(failure.epoch for failure in case.failures if isinstance(failure, Restart))


def plays_ahead(request: RunRequest) -> bool:
    """Tell whether sources play ahead: in every case with holds, and in most others, chosen by seed and first task."""
    return bool(request.case.holds) or _chance("ahead", request, request.case.graph.tasks[0]) < AHEAD_SHARE


def _chance(purpose: str, request: RunRequest, task: Task) -> float:
    """
    Return a random number that depends on the task alone.

    Changes elsewhere in the case do not change it. So a case that is being shrunk goes on to fail for the same reason,
    as long as the tasks involved are there.
    """
    return Random(f"{purpose}/{request.seed}/{task}").random()


def closed_gates(request: RunRequest) -> dict[str, GateEpochs]:
    """
    Return the gates of each task that has any.

    There is a gate at the start of an epoch where the case holds a task back. Besides, one task has a gate at each
    border that has another epoch behind it, so that the next epoch has begun while a checkpoint is under way.
    """
    case = request.case
    gates: dict[str, set[tuple[Gate, int]]] = {}
    for hold in case.holds:
        gates.setdefault(hold.task, set()).add((Gate.EPOCH_START, hold.epoch))
    if plays_ahead(request):
        for epoch in range(1, case.epochs):
            if not any(hold.epoch == epoch for hold in case.holds):
                late = max(case.graph.tasks, key=partial(_chance, f"late in {epoch}", request))
                gates.setdefault(late.name, set()).add((Gate.BORDER, epoch))
    return {name: frozenset(closed) for name, closed in gates.items()}


def independent_tasks(case: Case, waiting: Iterable[str]) -> list[str]:
    """Return the tasks that read nothing, directly or not, from these: they can finish an epoch without them."""
    late = set(waiting)
    streams = {task.output for task in case.graph.tasks if task.name in late}
    for task in case.graph.in_order:
        if streams & set(task.inputs):
            late.add(task.name)
            streams.add(task.output)
    return [task.name for task in case.graph.tasks if task.name not in late]


def job_seconds(requests: Sequence[RunRequest], requested: int) -> float:
    """
    Return the seconds after which a job has stalled, if `requested` cases were requested at once.

    They grow with its cases and with the jobs that run beside it, both of which slow it down. But the stall has to be
    reported before all cases together are too late, or the suite ends the engine.
    """
    seconds = requests[0].seconds
    return min(CONCURRENT_JOBS * batch_seconds(seconds, len(requests)), batch_seconds(seconds, requested))
