"""
Grouping of run requests that can share a streaming query.

A failure of one task does not affect other cases: Spark retries that task only. A restart of the query or a SIGKILL of
its driver affects all cases of the query, so cases share a query if they ask for these failures at the same moments;
one SIGKILL is then a failure of each case. A case does not share its query if a failure at one of its events ends the
query or its driver, or if an executor is killed.
"""

from collections.abc import Sequence
from itertools import pairwise

from attrs import frozen

from conformance.adapters.spark.batch_progress import external_kills
from conformance.adapters.spark.routing import levels
from conformance.adapters.spark.setup import ONCE, SparkSetup
from conformance.case import Case, Crash, Failure, Kill, Restart
from conformance.engine import RunRequest


@frozen
class QueryGroup:
    """
    Run requests that share a query: how often Spark must try a task, and whether a JVM (driver, executor) is killed.

    If no task fails, `attempts` is None: any number is possible.
    """

    requests: tuple[RunRequest, ...]
    attempts: int | None
    kills_jvm: bool = False

    def allows(self, attempts: int) -> bool:
        """Tell whether the query can run on a driver that tries a task so often."""
        return self.attempts in {None, attempts}


def group_requests(requests: Sequence[RunRequest], setup: SparkSetup) -> list[QueryGroup]:
    """Group run requests: groups that need certain drivers first, and of these the largest groups first."""
    found: dict[object, list[RunRequest]] = {}
    for number, request in enumerate(requests):
        found.setdefault(_group_key(request, number, setup), []).append(request)
    groups = [_group(shared, setup) for shared in found.values()]
    return sorted(groups, key=lambda group: (group.attempts is None, -len(group.requests)))


def _group(requests: Sequence[RunRequest], setup: SparkSetup) -> QueryGroup:
    needed = [task_attempts(request.case, setup) for request in requests if any(map(_is_local, request.case.failures))]
    kills_jvm = any(_kills_jvm(failure, setup) for failure in requests[0].case.failures)
    return QueryGroup(tuple(requests), min(needed, default=None), kills_jvm)


def _group_key(request: RunRequest, number: int, setup: SparkSetup) -> object:
    """Return what requests of a group have in common; the request's own number, if it cannot share a query."""
    failures = request.case.failures
    if task_attempts(request.case, setup) == ONCE and any(map(_is_local, failures)):
        return number
    external = external_kills(request, stores=1)
    if any(_kills_jvm(failure, setup) and index not in external for index, failure in enumerate(failures)):
        return number
    return tuple(failure for failure in failures if not _is_local(failure))


def _is_local(failure: Failure) -> bool:
    """Tell whether a task or its worker fails, and not the whole query."""
    return isinstance(failure, Crash) or (isinstance(failure, Kill) and failure.target == "worker")


def _kills_jvm(failure: Failure, setup: SparkSetup) -> bool:
    return isinstance(failure, Kill) and (failure.target == "coordinator" or not setup.is_local)


def task_attempts(case: Case, setup: SparkSetup) -> int:
    """
    Return how often Spark may try a task so that all failures of a case can happen.

    If Spark retries a failed task, then it retries nothing else. Tasks beside it or upstream of it have finished that
    epoch and cannot fail in it any more, and there is no recovery in which to kill the driver. A case that asks for
    such a failure runs where a failed task ends the query: the query restarts from its checkpoint and does the whole
    epoch again. So does a case whose executors are killed.
    """
    level = levels(case.graph)
    level_of = {task.name: level[task.output] for task in case.graph.tasks}

    def can_follow(first: Failure, second: Failure) -> bool:
        if not _is_local(first):
            return True
        if isinstance(second, Kill) and second.target == "coordinator":
            return second.phase != "recovery"
        if first.epoch != second.epoch or isinstance(second, Restart):
            return True
        if not (isinstance(first, Crash) and isinstance(second, Crash)):
            return False
        return first.task == second.task or level_of[second.task] > level_of[first.task]

    kills_executor = any(_kills_jvm(failure, setup) and _is_local(failure) for failure in case.failures)
    if kills_executor or not all(can_follow(first, second) for first, second in pairwise(case.failures)):
        return ONCE
    return setup.attempts
