"""The lemmas and theorems over generated executions."""

from itertools import pairwise
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from conformance.model.configuration import initial
from conformance.model.construction import explain
from conformance.model.explanation import (
    chained,
    composed,
    explains,
    explanation,
    grows,
    is_monotonic,
)
from conformance.model.explore import out_of
from conformance.model.rules import apply, labelled_successor
from conformance.model.snapshot import lcs, observed, out
from conformance.model.trace import causes, configurations, happens_before, last, permuted, preserves, shuffled, valid
from conformance.model.wellformed import faults
from tests.lemmas import (
    check_configuration,
    check_construction,
    check_generations,
    check_independence,
    check_step,
    same_labels,
)
from tests.small import enabled, runs


@given(runs())
def test_every_step_keeps_what_the_paper_says_of_steps(run):
    case, trace = run
    along = list(configurations(initial(case), trace))
    facts = [check_configuration(c) for c in along]
    for step, (c, after), (before_it, after_it) in zip(trace, pairwise(along), pairwise(facts), strict=True):
        check_step(c, step, after, before_it, after_it)


@given(runs())
def test_steps_of_different_tasks_commute(run):
    case, trace = run
    c = last(initial(case), trace)
    check_independence(c, [step for step in enabled(c, failing=True) if step.task])


@given(runs())
def test_each_line_of_the_proof_holds_for_every_generation(run):
    case, trace = run
    check_generations(initial(case), trace)


@given(runs())
def test_the_construction_explains_any_execution_by_a_failure_free_one(run):
    case, trace = run
    check_construction(initial(case), trace)


@given(runs(), st.integers(min_value=0))
def test_prefixes_of_valid_traces_are_valid(run, length):
    case, trace = run
    assert valid(initial(case), trace[: length % (len(trace) + 1)])


@given(runs(), st.randoms(use_true_random=False))
def test_a_causality_preserving_permutation_is_valid_and_ends_alike(run, random: Random):
    case, trace = run
    c = initial(case)
    order = causes(c, trace)
    permutation = shuffled(order, random)
    assert preserves(order, permutation)
    assert same_labels(c, trace, permutation)
    assert last(c, permuted(trace, permutation)) == last(c, trace)


@given(runs(most_failures=1), st.data())
def test_breaking_a_direct_cause_is_noticed(run, data):
    case, trace = run
    c = initial(case)
    order = causes(c, trace)
    dependent = [index for index in range(1, len(trace)) if happens_before(order, index - 1, index)]
    if dependent:
        index = data.draw(st.sampled_from(dependent))
        swapped = list(range(len(trace)))
        swapped[index - 1], swapped[index] = index, index - 1
        assert not preserves(order, swapped)


@given(runs())
def test_applying_actions_in_two_parts_is_applying_them_at_once(run):
    case, trace = run
    c = last(initial(case), trace)
    for step in enabled(c, failing=False):
        if not step.task:
            continue
        actions, _ = labelled_successor(c, step)
        numbers, messages = c.numbers[step.task], c.messages
        for cut in range(len(actions) + 1):
            halfway = apply(actions[:cut], numbers, messages)
            assert apply(actions[cut:], *halfway) == apply(actions, numbers, messages)


@given(runs())
def test_an_undefined_application_changes_nothing(run):
    case, trace = run
    c = last(initial(case), trace)
    before = (dict(c.numbers), dict(c.messages), c.message_set())
    for name, processor in c.dataflow.processors.items():
        nothing_there = (False, processor.inputs[0], (10**6, None))
        for step in enabled(c, failing=False):
            if step.task == name:
                actions, _ = labelled_successor(c, step)
                assert apply([*actions, nothing_there], c.numbers[name], c.messages) is None
    assert (dict(c.numbers), dict(c.messages), c.message_set()) == before


@given(runs())
def test_every_reachable_configuration_is_well_formed(run):
    case, trace = run
    assert not list(faults(last(initial(case), trace)))


@given(runs())
def test_the_snapshot_of_a_snapshot_is_itself(run):
    case, trace = run
    c = last(initial(case), trace)
    assert lcs(lcs(c)) == lcs(c)
    assert out(lcs(c)) == out(c)


@given(runs())
def test_an_explanation_can_be_made_monotonic(run):
    case, trace = run
    c = initial(case)
    seen = [out_of(each) for each in configurations(c, trace)]
    by = [out_of(each) for each in configurations(c, explain(c, trace).trace)]
    mapping = explanation(seen, by)
    assert mapping is not None
    assert explains(seen, by, mapping)
    assert is_monotonic(mapping)


@given(runs())
def test_explanations_chain(run):
    case, trace = run
    c = initial(case)
    once = explain(c, trace)
    twice = explain(c, once.trace)
    seen = [out_of(each) for each in configurations(c, trace)]
    by = [out_of(each) for each in configurations(c, twice.trace)]
    assert explains(seen, by, chained(once.mapping, twice.mapping))


@given(runs(), st.data())
def test_what_explains_all_streams_explains_some_of_them(run, data):
    case, trace = run
    c = initial(case)
    streams = set(data.draw(st.lists(st.sampled_from(case.graph.streams))))
    explained = explain(c, trace)
    seen = [observed(each) for each in configurations(c, trace)]
    by = [observed(each) for each in configurations(c, explained.trace)]

    def only(observation):
        return {stream: epochs for stream, epochs in observation.items() if stream in streams}

    views, views_by, mapping = composed(only, seen, by, explained.mapping)
    assert explains(views, views_by, mapping)
    assert grows(views, lambda earlier, later: all(later[s][: len(earlier[s])] == earlier[s] for s in earlier))


@given(st.lists(st.integers(0, 3)))
def test_growing_means_that_no_observation_is_taken_back(values):
    assert grows(values, lambda a, b: a <= b) == (values == sorted(values))
