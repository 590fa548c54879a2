"""Exploration, and that its reduction changes no answer."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.case import Case, Graph, Task
from conformance.errors import OutOfBudget
from conformance.model.configuration import initial
from conformance.model.execution import RandomScheduler, execution
from conformance.model.explore import explore, out_of
from conformance.model.injection import RandomInjector
from conformance.programs import Digest, Sum
from tests.small import cases, graphs

BRANCHES = Case(
    Graph(
        ("a", "b"),
        (
            Task("t", ("a",), "x", Digest()),
            Task("u", ("x",), "y", Sum()),
            Task("v", ("b",), "z", Digest()),
            Task("w", ("z",), "o", Sum()),
        ),
    ),
    {"a": ((1, 2), (3,)), "b": ((4, 5), (6,))},
)


def test_two_independent_branches_are_explored_with_a_tenth_of_the_states():
    full, reduced = explore(BRANCHES, 1, reduced=False), explore(BRANCHES, 1)
    assert (full.outs, full.ends, full.transparent, full.live) == (
        reduced.outs,
        reduced.ends,
        reduced.transparent,
        reduced.live,
    )
    assert full.states >= 10 * reduced.states


@settings(max_examples=25)
@given(
    cases(most_epochs=2, most_events=1, graph=graphs(most_tasks=2, most_sources=2, most_inputs=2)),
    st.integers(0, 2),
)
def test_the_reduction_changes_no_answer(case, failures):
    full, reduced = explore(case, failures, reduced=False), explore(case, failures)
    assert (full.outs, full.failure_free, full.ends) == (reduced.outs, reduced.failure_free, reduced.ends)
    assert full.transparent
    assert full.live
    assert reduced.transparent
    assert reduced.live
    assert reduced.states <= full.states


@settings(max_examples=25)
@given(cases(most_epochs=2, most_events=2, graph=graphs(most_tasks=2, most_sources=2, most_inputs=2)), st.randoms())
def test_exploration_finds_every_out_of_any_execution(case, random):
    outs = explore(case, 0).outs
    for _, c in execution(initial(case), RandomScheduler(random), RandomInjector(random, most=3)):
        assert out_of(c) in outs


@given(cases(most_epochs=2, most_events=2, graph=graphs(most_tasks=3, most_inputs=1)))
def test_single_inputs_have_one_end(case):
    assert len(explore(case, 1).ends) == 1


def test_a_join_can_end_in_every_order_of_its_events():
    case = Case(Graph(("a", "b"), (Task("t", ("a", "b"), "x", Digest()),)), {"a": ((1, 2),), "b": ((3, 4),)})
    assert len(explore(case).ends) == 6


def test_too_many_states_are_out_of_budget():
    with pytest.raises(OutOfBudget, match="more than 10"):
        explore(BRANCHES, 1, most=10)
