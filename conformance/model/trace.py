"""Traces: application, validity, the causal order of their steps, and the permutations that keep it."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from conformance.errors import Inapplicable
from conformance.model.configuration import BD, RECOVER, Configuration, Rule, Step, Trace
from conformance.model.rules import CONSUME, PRODUCE, Label, labelled_successor, successor
from conformance.model.snapshot import epoch_of
from conformance.programs import Event


def configurations(c: Configuration, trace: Sequence[Step]) -> Iterator[Configuration]:
    """Go through Z(c), c first. A step that does not apply raises Inapplicable when it is reached."""
    yield c
    for index, step in enumerate(trace):
        after = successor(c, step)
        if after is None:
            raise Inapplicable(index, str(step), _why_not(c, step))
        c = after
        yield c


class StepEffect(NamedTuple):
    """What a task did in one step: the message it handled, if it was an event, and the messages it sent."""

    epoch: int
    seq: int
    value: Event | None
    sends: tuple[tuple[int, Event | None], ...]
    """Sequence number and event, or None for a border, of each message."""


def step_effect(before: Configuration, step: Step, after: Configuration) -> StepEffect:
    """Return the effect of an I-Event or I-Border step that leads from one configuration to the other."""
    seq, value = 0, None
    if step.rule is Rule.EVENT:
        seq = before.numbers[step.task][step.stream]
        value = before.messages[step.stream][seq][1]
    output = before.dataflow.processors[step.task].output
    sent = range(before.numbers[step.task][output], after.numbers[step.task][output])
    sends = tuple((number, after.messages[output][number][1]) for number in sent)
    return StepEffect(epoch_of(before, step.task), seq, value, sends)


def last(c: Configuration, trace: Sequence[Step]) -> Configuration:
    """Return the end of Z(c)."""
    *_, end = configurations(c, trace)
    return end


def valid(c: Configuration, trace: Sequence[Step]) -> bool:
    """Check that the trace applies from c."""
    try:
        last(c, trace)
    except Inapplicable:
        return False
    return True


def _why_not(c: Configuration, step: Step) -> str:
    if step is RECOVER:
        return "no task has failed"
    if c.states[step.task][1] is None:
        return f"{step.task} has failed"
    if step.rule is Rule.BORDER:
        waiting = [s for s in c.dataflow.processors[step.task].inputs if not _at_border(c, step.task, s)]
        return f"{', '.join(waiting)} has not reached the border" if waiting else "there is no epoch left"
    if _at_border(c, step.task, step.stream):
        return f"{step.stream} is at its border and waits for the others"
    return f"{step.stream} has no message yet"


def _at_border(c: Configuration, task: str, stream: str) -> bool:
    log, n = c.messages[stream], c.numbers[task][stream]
    return n < len(log) and log[n][1] is BD


def labels(c: Configuration, trace: Sequence[Step]) -> list[Label | None]:
    """Label the steps of a valid trace, <rule, p, N_p, X>; F-Recover has no label."""
    found: list[Label | None] = []
    for before, step in zip(configurations(c, trace), trace, strict=False):
        taken = None if step is RECOVER else labelled_successor(before, step)
        found.append(None if taken is None else Label(step.task, before.numbers[step.task], taken[0]))
    return found


def causes(c: Configuration, trace: Sequence[Step]) -> list[int]:
    """
    Compute the causal order: for each step the set of steps that happen before it, as the bits of an integer.

    A step happens before a later one if either is F-Recover, if both are of one task, if the later one consumes a
    message that the earlier one produced, or through others. F-Recover stands between all before it and all after, so
    a number that is produced again afterwards never confuses the two producers.
    """
    before: list[int] = []
    everything = 0
    recovered = 0
    last_of_task: dict[str, int] = {}
    producer: dict[tuple[str, int], int] = {}
    for index, (step, label) in enumerate(zip(trace, labels(c, trace), strict=True)):
        if label is None:
            reached = everything
            recovered = everything | (1 << index)
            last_of_task.clear()
            producer.clear()
        else:
            reached = recovered | last_of_task.get(step.task, 0)
            numbers = dict(label.numbers)
            for kind, stream, _ in label.actions:
                number = numbers[stream]
                numbers[stream] = number + 1
                if kind is CONSUME:
                    reached |= producer.get((stream, number), 0)
            with_itself = reached | (1 << index)
            last_of_task[step.task] = with_itself
            numbers = dict(label.numbers)
            for kind, stream, _ in label.actions:
                if kind is PRODUCE:
                    producer[stream, numbers[stream]] = with_itself
                numbers[stream] += 1
        before.append(reached)
        everything |= 1 << index
    return before


def happens_before(order: Sequence[int], i: int, j: int) -> bool:
    """Check that step i happens before step j, in an order from `causes`."""
    return bool(order[j] >> i & 1)


def preserves(order: Sequence[int], permutation: Sequence[int]) -> bool:
    """Check that a permutation (old indices in their new order) keeps every cause before its effect."""
    placed = 0
    for index in permutation:
        if order[index] & ~placed:
            return False
        placed |= 1 << index
    return True


def shuffled(order: Sequence[int], random: Random) -> list[int]:
    """Draw a random causality-preserving permutation. Every one of them can come up."""
    placed = 0
    remaining = list(range(len(order)))
    permutation = []
    while remaining:
        free = [index for index in remaining if not order[index] & ~placed]
        index = random.choice(free)
        remaining.remove(index)
        placed |= 1 << index
        permutation.append(index)
    return permutation


def permuted(trace: Sequence[Step], permutation: Sequence[int]) -> Trace:
    """Put the trace's steps in the order of a permutation."""
    return tuple(trace[index] for index in permutation)
