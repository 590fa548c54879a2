"""Hypothesis shrinks every planted property to the smallest case that has it."""

from random import Random

import pytest
from hypothesis import HealthCheck, Phase, find, settings

from conformance.case import Case, Crash, Graph, Kill, Partition, Restart, Task
from conformance.generators import cases, situations
from conformance.programs import Average, Batch, Digest

SETTINGS = settings(
    max_examples=5_000,
    database=None,
    derandomize=False,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate, Phase.shrink],
)

ONE = Graph(("a",), (Task("t", ("a",), "t-out", Digest()),))


def graph(*tasks, sources="a"):
    """Digests, each given by what it reads."""
    names = "tuvwx"
    return Graph(
        tuple(sources),
        tuple(Task(name, tuple(reads), f"{name}-out", Digest()) for name, reads in zip(names, tasks, strict=False)),
    )


def empty(epochs, sources="a"):
    return dict.fromkeys(sources, ((),) * epochs)


def has(*names):
    return lambda case: set(names) <= situations(case)


def crashes(case):
    return [failure for failure in case.failures if isinstance(failure, Crash)]


DIAMOND = graph(["a"], ["a", "t-out"])
"""The smallest: a stream, and what one task makes of it."""


PLANTED = {
    "anything at all": (lambda _: True, Case(ONE, empty(1))),
    "a crash": (has("a crash"), Case(ONE, empty(1), (Crash("t", 1, 0),))),
    "a crash at a border in epoch 2": (
        lambda case: any(crash.epoch == 2 and crash.event == "border" for crash in crashes(case)),
        Case(ONE, empty(2), (Crash("t", 2, "border"),)),
    ),
    "a diamond": (has("a diamond of unequal depth"), Case(DIAMOND, empty(1))),
    "a diamond and a crash at a border in epoch 2": (
        lambda case: (
            has("a diamond of unequal depth")(case)
            and any(crash.epoch == 2 and crash.event == "border" for crash in crashes(case))
        ),
        Case(DIAMOND, empty(2), (Crash("t", 2, "border"),)),
    ),
    "a diamond of equal depth": (
        has("a diamond"),
        Case(graph(["a"], ["a"], ["t-out", "u-out"]), empty(1)),
    ),
    "two crashes of one task": (
        lambda case: any(one.task == two.task for one in crashes(case) for two in crashes(case) if one is not two),
        Case(ONE, empty(1), (Crash("t", 1, 0), Crash("t", 1, 0))),
    ),
    "an empty epoch before the failing one": (
        lambda case: any(
            not any(epochs[failure.epoch - 2] for epochs in case.inputs.values())
            for failure in case.failures
            if failure.epoch > 1
        ),
        Case(ONE, empty(2), (Crash("t", 2, 0),)),
    ),
    "a chain of three": (
        lambda case: any(
            task.inputs == (other.output,) and other.inputs == (third.output,)
            for task in case.graph.tasks
            for other in case.graph.tasks
            for third in case.graph.tasks
        ),
        Case(graph(["a"], ["t-out"], ["u-out"]), empty(1)),
    ),
    "two sources": (has("several sources"), Case(graph(["a", "b"], sources="ab"), empty(1, "ab"))),
    "three inputs": (has("three inputs or more"), Case(graph(["a", "b", "c"], sources="abc"), empty(1, "abc"))),
    "disjoint parts": (has("disjoint parts"), Case(graph(["a"], ["b"], sources="ab"), empty(1, "ab"))),
    "a batch and an event": (
        lambda case: "batch" in situations(case) and any(map(any, case.inputs.values())),
        Case(Graph(("a",), (Task("t", ("a",), "t-out", Batch(2)),)), {"a": ((0,),)}),
    ),
    "an average that is reset": (
        has("average", "reset"),
        Case(Graph(("a",), (Task("t", ("a",), "t-out", Average()),)), {"a": (("reset",),)}),
    ),
    "a kill in its commit phase": (has("kill in commit"), Case(ONE, empty(1), (Kill("worker", 1, "commit"),))),
    "a kill while recovering": (
        has("kill in recovery"),
        Case(ONE, empty(1), (Crash("t", 1, 0), Kill("worker", 1, "recovery"))),
    ),
    "a restart and a failure after it": (
        lambda case: any(
            isinstance(one, Restart) and two.epoch > one.epoch
            for one, two in zip(case.failures, case.failures[1:], strict=False)
        ),
        Case(ONE, empty(2), (Restart(1), Crash("t", 2, 0))),
    ),
    "a partition": (has("a partition"), Case(ONE, empty(1), (Partition("worker", 1, 1),))),
    "four events": (
        lambda case: sum(len(events) for epochs in case.inputs.values() for events in epochs) >= 4,
        Case(ONE, {"a": ((0, 0, 0, 0),)}),
    ),
    "an epoch 3 with an event": (
        lambda case: any(len(epochs) > 2 and epochs[2] for epochs in case.inputs.values()),
        Case(ONE, {"a": ((), (), (0,))}),
    ),
}


@pytest.mark.full
@pytest.mark.parametrize("name", PLANTED)
def test_shrinks_to_the_smallest_case_with(name):
    predicate, smallest = PLANTED[name]
    assert find(cases(), predicate, settings=SETTINGS, random=Random(1)) == smallest
