"""
Which cases share a job, where their tasks are held back, and when a source may be an epoch ahead.

A task that crashes takes the operators of its case with it and nobody else's, so cases in which nothing but that
happens share a job and its checkpoints; those that are stopped and started again share one with others that are so
after the same epochs. But a crash makes a checkpoint fail for all: a source that was let into the next epoch while it
was under way has then gone too far, unless it is restored as well. So in company, sources get ahead only while nobody
is about to crash; cases whose point is to be ahead and to crash then, because they hold tasks back, run alone.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise
from math import ceil
from random import Random

from attrs import frozen

from conformance.adapters.flink.control import Waits
from conformance.case import Case, Crash, Restart, Task
from conformance.engine import RunRequest

TOGETHER = 12
"""Cases that share a job at the most."""

AHEAD = 0.9
"""Of so many cases the sources are let into the next epoch while the checkpoint of the one before is under way."""


@frozen
class Group:
    """Cases for one job."""

    jobs: tuple[RunRequest, ...]

    @property
    def is_alone(self) -> bool:
        """Whether whatever happens concerns one case only."""
        return len(self.jobs) == 1


def groups(jobs: Sequence[RunRequest]) -> list[Group]:
    """
    The jobs for these cases. Alike ones share: a job has as many epochs as the longest of its cases, and is disturbed
    by all that crash. The longest come first, so that nobody waits for one in the end.
    """
    found: dict[object, list[RunRequest]] = {}
    for number, job in enumerate(jobs):
        found.setdefault(_company(job.case, number), []).append(job)
    made = [group for some in found.values() for group in _dealt(sorted(some, key=_length))]
    return sorted(made, key=lambda group: max(map(_length, group.jobs)), reverse=True)


def _length(job: RunRequest) -> tuple[int, int]:
    return job.case.epochs, len(job.case.failures)


def _dealt(jobs: Sequence[RunRequest]) -> list[Group]:
    """Neighbours together, and as many in one group as in another."""
    number = ceil(len(jobs) / TOGETHER)
    borders = [len(jobs) * n // number for n in range(number + 1)]
    return [Group(tuple(jobs[begin:end])) for begin, end in pairwise(borders)]


def _company(case: Case, number: int) -> object:
    """What a case has in common with those that may be run with it."""
    if not all(isinstance(failure, Crash | Restart) for failure in case.failures):
        return number
    if case.holds and any(isinstance(failure, Crash) for failure in case.failures):
        return number
    return tuple(failure.epoch for failure in case.failures if isinstance(failure, Restart))


def gets_ahead(job: RunRequest) -> bool:
    """
    Whether a case's sources are let ahead wherever that can be done: always, where it holds tasks back; otherwise its
    first task decides.
    """
    return bool(job.case.holds) or _chance("ahead", job, job.case.graph.tasks[0]) < AHEAD


def _chance(of: str, job: RunRequest, task: Task) -> float:
    """
    A number that is a task's own. What does not concern the task does not change it: a case that is being shrunk is to
    fail for the reason it failed for, as long as what that takes is there.
    """
    return Random(f"{of}/{job.seed}/{task}").random()


def waits(job: RunRequest) -> dict[str, Waits]:
    """
    Where tasks are held back: where the case says, and, so that the next epoch has really begun while a checkpoint is
    under way, one task at each border that has another epoch behind it.
    """
    case = job.case
    begins: dict[str, set[int]] = {}
    borders: dict[str, set[int]] = {}
    for hold in case.holds:
        begins.setdefault(hold.task, set()).add(hold.epoch)
    if gets_ahead(job):
        for epoch in range(1, case.epochs):
            if not any(hold.epoch == epoch for hold in case.holds):
                late = max(case.graph.tasks, key=partial(_chance, f"late in {epoch}", job))
                borders.setdefault(late.name, set()).add(epoch)
    return {
        task.name: Waits(frozenset(begins.get(task.name, ())), frozenset(borders.get(task.name, ())))
        for task in case.graph.tasks
        if task.name in begins or task.name in borders
    }


def independent(case: Case, held: Iterable[str]) -> list[str]:
    """The tasks that do without these, however far down the graph: they can finish whatever epoch there is."""
    late = set(held)
    streams = {task.output for task in case.graph.tasks if task.name in late}
    for task in case.graph.in_order:
        if streams & set(task.inputs):
            late.add(task.name)
            streams.add(task.output)
    return [task.name for task in case.graph.tasks if task.name not in late]
