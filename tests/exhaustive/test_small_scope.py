"""
Every definition, lemma and theorem, for every case of a small scope.

What the paper says of traces is checked on what they are made of, in every reachable configuration, where that comes
to the same. Permutations: every pair of neighbours (see `lemmas.check_independence`). The construction: on a trace to
every configuration that a commit or a recovery led to. Any other step has an epoch above gce or is a failure, so the
construction drops it, and what it yields for the longer trace is what it yielded for the shorter one, with an out that
has not changed (Lemma B.6, checked for every step).
"""

import pytest

from conformance.case import Case
from conformance.model.configuration import RECOVER, Configuration, Step, Trace, initial
from conformance.model.explore import Exploration, explore
from tests.exhaustive import scope
from tests.lemmas import (
    check_configuration,
    check_construction,
    check_generations,
    check_independence,
    check_step,
)
from tests.small import PROGRAMS, enabled

ORDERS = 12
ORDERS_REDUCED = 300
"""How many interleavings of a case are told apart at most, by the full and by the reduced search; see `scope`."""


class Checker:
    """Checks every configuration, every step and every pair of steps of an exploration, and the construction."""

    def __init__(self, case: Case) -> None:
        self.start = initial(case)
        self.facts = {self.start: check_configuration(self.start)}
        self.steps_to: dict[Configuration, tuple[Configuration, Step]] = {}

    def __call__(self, c: Configuration, step: Step, after: Configuration) -> None:
        if after not in self.facts:
            self.facts[after] = check_configuration(after)
            self.steps_to[after] = (c, step)
            check_independence(after, [each for each in enabled(after, failing=True) if each.task])
            if step is RECOVER or self.facts[c].gce != self.facts[after].gce:
                check_construction(self.start, self.trace_to(after))
        check_step(c, step, after, self.facts[c], self.facts[after])

    def trace_to(self, c: Configuration) -> Trace:
        steps = []
        while c in self.steps_to:
            c, step = self.steps_to[c]
            steps.append(step)
        return tuple(reversed(steps))


def check(case: Case, failures: int) -> Exploration:
    """Every interleaving and placement, every lemma; and that the reduced search gives the same answer."""
    checker = Checker(case)
    full = explore(case, failures, reduced=False, visit=checker)
    assert full.transparent
    assert full.live
    snapshots = {facts.lcs for facts in checker.facts.values()}
    assert snapshots <= {c for c in checker.facts if not c.failed}  # every lcs is a configuration without failures
    reduced = check_reduced(case, failures)
    assert (reduced.outs, reduced.failure_free, reduced.ends) == (full.outs, full.failure_free, full.ends)
    return full


def check_reduced(case: Case, failures: int) -> Exploration:
    """The reduced search, with every step it takes checked, and the proof's lines on a trace to every end."""
    checker = Checker(case)
    reduced = explore(case, failures, visit=checker)
    assert reduced.transparent
    assert reduced.live
    for c in checker.facts:
        if not any(enabled(c, failing=False)):
            check_generations(checker.start, checker.trace_to(c))
    return reduced


def name(shape: scope.Shape) -> str:
    return "-".join("".join(map(str, sorted(reads))) for reads in shape)


def named(shapes: list[scope.Shape]) -> list[object]:
    return [pytest.param(shape, id=name(shape)) for shape in shapes]


def named_with_sources(shapes: list[tuple[int, scope.Shape]]) -> list[object]:
    return [pytest.param(sources, shape, id=f"{sources}:{name(shape)}") for sources, shape in shapes]


@pytest.mark.parametrize("shape", named(scope.shapes(2, 1) + scope.shapes(2, 2)))
def test_a_slice_for_every_commit(shape: scope.Shape) -> None:
    for case in scope.cases(shape, 2, epochs=2, events=1, most=4):
        check(case, failures=1)


UP_TO_TWO_TASKS = [(sources, shape) for sources in (1, 2) for tasks in (1, 2) for shape in scope.shapes(sources, tasks)]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("sources", "shape"), named_with_sources(UP_TO_TWO_TASKS))
def test_up_to_two_tasks(sources: int, shape: scope.Shape) -> None:
    for case in scope.cases(shape, sources, epochs=2, events=2, most=ORDERS):
        check(case, failures=2)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("sources", "shape"), named_with_sources(UP_TO_TWO_TASKS))
def test_up_to_two_tasks_with_every_order_told_apart(sources: int, shape: scope.Shape) -> None:
    for case in scope.cases(shape, sources, epochs=2, events=2, most=ORDERS_REDUCED):
        check_reduced(case, failures=2)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("sources", "shape"), named_with_sources(UP_TO_TWO_TASKS))
def test_up_to_two_tasks_with_other_programs(sources: int, shape: scope.Shape) -> None:
    for case in scope.sampled(shape, sources, epochs=2, events=1, programs=PROGRAMS, samples=12):
        check(case, failures=1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("shape", named(scope.shapes(1, 3)))
def test_three_tasks_on_one_source(shape: scope.Shape) -> None:
    for case in scope.cases(shape, 1, epochs=2, events=2, most=ORDERS):
        check(case, failures=2)


@pytest.mark.exhaustive
@pytest.mark.parametrize("shape", named(scope.shapes(2, 3)))
def test_three_tasks_on_two_sources_reduced(shape: scope.Shape) -> None:
    for case in scope.cases(shape, 2, epochs=2, events=1, most=ORDERS_REDUCED):
        check_reduced(case, failures=1)
