"""
Which cases can share a query.

A failure that strikes one task is nobody else's business: Spark does that task again, and cases in whose task nothing
failed are none the wiser. A query that is stopped and started again is so for all its cases, and so is one whose driver
is killed: those share one that ask for it at the same moments, and one SIGKILL is the failure of each of them. What
ends the query or its driver from within, at an event of a case, is for that case alone; so is an executor's death.
"""

from collections.abc import Sequence
from itertools import pairwise

from attrs import frozen

from conformance.adapters.spark.batch_progress import windows
from conformance.adapters.spark.layout import levels
from conformance.adapters.spark.setup import ONCE, Setup
from conformance.case import Case, Crash, Failure, Kill, Restart
from conformance.engine import RunRequest


@frozen
class Group:
    """
    Cases for one query: how often a task may be tried there, and whether it may lose its driver or executors.

    Where no task is going to fail, `attempts` is None: any number will do.
    """

    jobs: tuple[RunRequest, ...]
    attempts: int | None
    is_violent: bool = False

    def suits(self, attempts: int) -> bool:
        """Whether it can run where a task is tried so often."""
        return self.attempts in {None, attempts}


def groups(jobs: Sequence[RunRequest], setup: Setup) -> list[Group]:
    """The queries for these cases: those with most to do first, and before those that any driver will do for."""
    found: dict[object, list[RunRequest]] = {}
    for number, job in enumerate(jobs):
        found.setdefault(_company(job, number, setup), []).append(job)
    made = [_group(together, setup) for together in found.values()]
    return sorted(made, key=lambda group: (group.attempts is None, -len(group.jobs)))


def _group(jobs: Sequence[RunRequest], setup: Setup) -> Group:
    needed = [attempts(job.case, setup) for job in jobs if any(map(_is_local, job.case.failures))]
    return Group(
        tuple(jobs), min(needed, default=None), any(_is_violent(failure, setup) for failure in jobs[0].case.failures)
    )


def _company(job: RunRequest, number: int, setup: Setup) -> object:
    """What a case has in common with those that may be run with it."""
    failures = job.case.failures
    if attempts(job.case, setup) == ONCE and any(map(_is_local, failures)):
        return number
    from_outside = windows(job, stores=1)
    if any(_is_violent(failure, setup) and place not in from_outside for place, failure in enumerate(failures)):
        return number
    return tuple(failure for failure in failures if not _is_local(failure))


def _is_local(failure: Failure) -> bool:
    """Whether it is a task or its worker that fails, and not all of the query."""
    return isinstance(failure, Crash) or (isinstance(failure, Kill) and failure.target == "worker")


def _is_violent(failure: Failure, setup: Setup) -> bool:
    return isinstance(failure, Kill) and (failure.target == "coordinator" or not setup.is_local)


def attempts(case: Case, setup: Setup) -> int:
    """
    How often a task may be tried so that the failures of a case can all happen.

    Where Spark does a failed task again, it does nothing else again: what stands beside it or above it in the graph is
    done with that epoch, and cannot fail in it any more; nor is there a recovery in which to kill the driver. A case
    that asks for that is run where a failed task is the end of the query, which starts again from its checkpoint and
    does the whole epoch anew; so is one whose executors are killed.
    """
    level = levels(case.graph)
    level_of = {task.name: level[task.output] for task in case.graph.tasks}

    def can_follow(one: Failure, two: Failure) -> bool:
        if not _is_local(one):
            return True
        if isinstance(two, Kill) and two.target == "coordinator":
            return two.phase != "recovery"
        if one.epoch != two.epoch or isinstance(two, Restart):
            return True
        both = isinstance(one, Crash) and isinstance(two, Crash)
        return both and (one.task == two.task or level_of[two.task] > level_of[one.task])  # type: ignore[union-attr]

    killed = any(_is_violent(failure, setup) and _is_local(failure) for failure in case.failures)
    if killed or not all(can_follow(one, two) for one, two in pairwise(case.failures)):
        return ONCE
    return setup.attempts
