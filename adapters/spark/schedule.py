"""
Which cases can share a query.

A failure that strikes one task is nobody else's business: Spark does that task again, and cases in whose task nothing
failed are none the wiser. A query that is stopped and started again is so for all its cases, so those share one that
ask for it after the same epochs. What ends the query or its driver in the middle of an epoch is for one case alone.
"""

from collections.abc import Sequence
from itertools import pairwise

from attrs import frozen

from adapters.spark.layout import levels
from adapters.spark.setup import ONCE, Setup
from conformance.case import Case, Crash, Failure, Kill, Restart
from conformance.engine import Job


@frozen
class Group:
    """Cases for one query: how often a task may be tried there, and whether it may lose its driver or executors."""

    jobs: tuple[Job, ...]
    attempts: int
    is_violent: bool = False


def groups(jobs: Sequence[Job], setup: Setup) -> list[Group]:
    """The queries for these cases: what is shared first, what is violent last."""
    found: dict[object, list[Job]] = {}
    for number, job in enumerate(jobs):
        found.setdefault(_company(job.case, number, setup), []).append(job)
    made = [
        Group(tuple(together), attempts(together[0].case, setup), _is_violent(together[0].case, setup))
        for together in found.values()
    ]
    return sorted(made, key=lambda group: (group.is_violent, -len(group.jobs)))


def _company(case: Case, number: int, setup: Setup) -> object:
    """What a case has in common with those that may be run with it."""
    if _is_violent(case, setup) or (attempts(case, setup) == ONCE and _strikes(case)):
        return number
    return tuple(failure.epoch for failure in case.failures if isinstance(failure, Restart))


def _strikes(case: Case) -> bool:
    return any(not isinstance(failure, Restart) for failure in case.failures)


def _is_violent(case: Case, setup: Setup) -> bool:
    return any(
        isinstance(failure, Kill) and (failure.target == "coordinator" or not setup.is_local)
        for failure in case.failures
    )


def attempts(case: Case, setup: Setup) -> int:
    """
    How often a task may be tried so that the failures of a case can all happen.

    Where Spark does a failed task again, it does nothing else again: what stands beside it or above it in the graph is
    done with that epoch, and cannot fail in it any more. A case that asks for that is run where a failed task is the
    end of the query, which starts again from its checkpoint and does the whole epoch anew; so is one that is going to
    have its driver killed, as every kind of driver that is kept in reserve costs as much as a case.
    """
    level = levels(case.graph)
    level_of = {task.name: level[task.output] for task in case.graph.tasks}

    def can_follow(one: Failure, two: Failure) -> bool:
        if one.epoch != two.epoch or isinstance(one, Restart) or isinstance(two, Restart):
            return True
        both = isinstance(one, Crash) and isinstance(two, Crash)
        return both and (one.task == two.task or level_of[two.task] > level_of[one.task])  # type: ignore[union-attr]

    if _is_violent(case, setup) or not all(can_follow(one, two) for one, two in pairwise(case.failures)):
        return ONCE
    return setup.attempts
