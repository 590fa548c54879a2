"""
The paper's lemmas as checks on one step or one trace.

The property tests run them on generated executions, the exhaustive ones on every step of every execution in a small
scope.
"""

from collections.abc import Iterable
from itertools import combinations

from attrs import frozen

from conformance.model.configuration import RECOVER, Configuration, Message, Rule, Step, Trace
from conformance.model.construction import explain, generations, is_committing, reordered
from conformance.model.explanation import explains, is_monotonic
from conformance.model.explore import out_of
from conformance.model.rules import apply, labelled_successor, successor
from conformance.model.snapshot import epoch_of, gce, lcs, out
from conformance.model.trace import causes, configurations, labels, last, permuted, preserves
from conformance.model.wellformed import faults


@frozen
class Facts:
    """What the lemmas need to know of a configuration, computed once."""

    gce: int
    out: set[Message]
    lcs: Configuration

    @classmethod
    def of(cls, c: Configuration) -> "Facts":
        return cls(gce(c), out(c), lcs(c))


def check_configuration(c: Configuration) -> Facts:
    """Check what the paper says of every reachable configuration; return the facts for the steps into and out of it."""
    assert not list(faults(c)), list(faults(c))  # S2
    facts = Facts.of(c)
    assert gce(facts.lcs) == facts.gce
    assert out(facts.lcs) == facts.out
    return facts


def check_step(c: Configuration, step: Step, after: Configuration, before_it: Facts, after_it: Facts) -> None:
    """Check what the paper says of a single step."""
    assert before_it.out <= after_it.out  # out is monotonic
    if step.rule is Rule.BORDER and before_it.gce != after_it.gce:
        assert after_it.gce == before_it.gce + 1
    else:
        assert before_it.gce == after_it.gce
        assert before_it.out == after_it.out  # Lemma B.6
        assert before_it.lcs == after_it.lcs  # Lemma B.9
    if step is RECOVER:
        assert after == before_it.lcs
        return
    actions, same = labelled_successor(c, step)
    assert same == after
    assert apply(actions, c.numbers[step.task], c.messages) == (after.numbers[step.task], after.messages)
    epoch = epoch_of(c, step.task)
    # The seed of Lemma B.7: what a step consumes and produces is of its own epoch, and a task's epoch never falls.
    assert all(data[0] == epoch for _, _, data in actions)
    assert epoch_of(after, step.task) == epoch + (step.rule is Rule.BORDER)


def check_independence(c: Configuration, steps: Iterable[Step]) -> None:
    """
    Check Lemma 6.5 for every pair of steps of different tasks enabled in c.

    Each is enabled after the other, with the same N_p and X, and both orders end alike.

    Every causality-preserving permutation is made of such swaps of neighbours, so these pairs in every
    configuration are the lemma.
    """
    taken = [(step, *labelled_successor(c, step)) for step in steps]
    for (one, actions, after_one), (other, other_actions, after_other) in combinations(taken, 2):
        if one.task == other.task:
            continue
        assert after_one.numbers[other.task] == c.numbers[other.task]
        assert after_other.numbers[one.task] == c.numbers[one.task]
        assert labelled_successor(after_one, other) == (other_actions, both := successor(after_other, one))
        assert labelled_successor(after_other, one) == (actions, both)


def check_construction(c: Configuration, trace: Trace) -> None:
    """Check the theorem: the constructed trace is valid, failure-free, and explains the original."""
    explained = explain(c, trace)
    assert all(step.rule in {Rule.EVENT, Rule.BORDER} for step in explained.trace)
    original = [out_of(each) for each in configurations(c, trace)]
    *_, end = by = list(configurations(c, explained.trace))
    assert explains(original, [out_of(each) for each in by], explained.mapping)
    assert is_monotonic(explained.mapping)
    assert end == lcs(last(c, trace))  # Lemmas B.10 and B.11, through all generations


def check_generations(c: Configuration, trace: Trace) -> None:
    """Check the proof's steps, one by one, for every generation of a trace."""
    start = c
    for generation in generations(c, trace):
        steps = tuple(step for step, _, _ in generation.steps)
        epochs = [epoch for _, epoch, _ in generation.steps]
        order = causes(start, steps)
        for later, before in enumerate(order):  # Lemma B.7
            assert all(epochs[i] <= epochs[later] for i in range(later) if before >> i & 1)
        permutation = reordered(generation)
        assert preserves(order, permutation)
        moved = permuted(steps, permutation)
        original = list(configurations(start, steps))
        rearranged = list(configurations(start, moved))
        assert original[-1] == rearranged[-1]  # Lemma 6.5
        kept = sum(epoch <= generation.gce for epoch in epochs)
        for position, index in enumerate(permutation[:kept]):
            if is_committing(original[index], steps[index], original[index + 1]):  # Lemma B.8
                assert is_committing(rearranged[position], steps[index], rearranged[position + 1])
                assert out(original[index + 1]) == out(rearranged[position + 1])
        cut = rearranged[kept]
        assert lcs(cut) == lcs(original[-1])  # Lemma B.11
        assert cut == lcs(cut)  # Lemma B.10
        start = lcs(original[-1])


def same_labels(c: Configuration, trace: Trace, permutation: list[int]) -> bool:
    """Check that every step keeps its N_p and X when the trace is permuted."""
    original = labels(c, trace)
    moved = labels(c, permuted(trace, permutation))
    return moved == [original[index] for index in permutation]
