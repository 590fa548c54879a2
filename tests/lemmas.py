"""
The paper's lemmas as checks on one step or one trace. The property tests run them on generated executions, the
exhaustive ones on every step of every execution in a small scope.
"""

from conformance.model.configuration import RECOVER, Configuration, Rule, Step, Trace
from conformance.model.construction import explain, generations, is_committing, reordered
from conformance.model.explanation import explains, grows, is_monotonic
from conformance.model.explore import out_of
from conformance.model.rules import apply, successor, take
from conformance.model.snapshot import epoch_of, gce, lcs, out
from conformance.model.trace import causes, configurations, labels, last, permuted, preserves
from conformance.model.wellformed import faults


def check_step(c: Configuration, step: Step, after: Configuration) -> None:
    """Everything the paper says of a single step."""
    assert not list(faults(after)), (step, list(faults(after)))  # S1
    before_out, after_out = out(c), out(after)
    assert before_out <= after_out  # out is monotonic
    commits = is_committing(c, step, after)
    if commits:
        assert gce(after) == gce(c) + 1
    else:
        assert gce(after) == gce(c)
        assert before_out == after_out  # Lemma B.6
        assert lcs(c) == lcs(after)  # Lemma B.9
    if step is RECOVER:
        assert after == lcs(c)
        return
    actions, same = take(c, step)
    assert same == after
    numbers, messages = apply(actions, c.numbers[step.task], c.messages)
    assert (numbers, messages) == (after.numbers[step.task], after.messages)
    epoch = epoch_of(c, step.task)
    # The seed of Lemma B.7: what a step consumes and produces is of its own epoch, and a task's epoch never falls.
    assert all(data[0] == epoch for _, _, data in actions)
    assert epoch_of(after, step.task) == epoch + (step.rule is Rule.BORDER)


def check_independence(c: Configuration, one: Step, other: Step) -> None:
    """
    Lemma 6.5 for a pair of steps: enabled in c and of different tasks, they are enabled in either order and end alike.

    Every causality-preserving permutation is made of such swaps of neighbours, so this pair in every
    configuration is the lemma.
    """
    first, second = successor(c, one), successor(c, other)
    assert first is not None
    assert second is not None
    assert take(first, other)[0] == take(c, other)[0], "the same N_p and X in either order"
    assert take(second, one)[0] == take(c, one)[0]
    assert successor(first, other) == successor(second, one)


def check_construction(c: Configuration, trace: Trace) -> None:
    """The theorem: the constructed trace is valid, failure-free, and explains the original."""
    explained = explain(c, trace)
    assert all(step.rule in {Rule.EVENT, Rule.BORDER} for step in explained.trace)
    original = [out_of(each) for each in configurations(c, trace)]
    *_, end = by = list(configurations(c, explained.trace))
    assert explains(original, [out_of(each) for each in by], explained.mapping)
    assert is_monotonic(explained.mapping)
    assert end == lcs(last(c, trace))  # Lemmas B.10 and B.11, through all generations


def check_generations(c: Configuration, trace: Trace) -> None:
    """The proof's steps, one by one, for every generation of a trace."""
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


def check_trace(c: Configuration, trace: Trace) -> None:
    """Every step, every generation, and the theorem."""
    along = list(configurations(c, trace))
    for before, step, after in zip(along, trace, along[1:], strict=False):
        check_step(before, step, after)
    assert grows([out(each) for each in along], set.issubset)
    check_generations(c, trace)
    check_construction(c, trace)


def same_labels(c: Configuration, trace: Trace, permutation: list[int]) -> bool:
    """Whether every step keeps its N_p and X when the trace is permuted."""
    original = labels(c, trace)
    moved = labels(c, permuted(trace, permutation))
    return moved == [original[index] for index in permutation]
