"""
The proof of failure transparency, as an algorithm: from any trace, the failure-free trace that explains it.

The argument, which the tests check line by line. Within a generation (the steps between two recoveries) no step of a
higher epoch happens before a step of a lower one, so the steps of epochs up to e, the gce at the generation's end,
can be moved in front of all others without breaking causality; the moved trace is valid and ends in the same
configuration. What now stands behind the last of them is of epochs that the recovery forgets, and failures, whose
epoch is always above gce because a failed task archives nothing more. Without that suffix the generation ends exactly
in the lcs of its original end, which is where the recovery led, so the stripped generations fit together.
"""

from collections.abc import Sequence

from attrs import define, frozen

from conformance.model.configuration import RECOVER, Configuration, Rule, Step, Trace
from conformance.model.snapshot import epoch_of, gce
from conformance.model.trace import configurations


@frozen
class Explained:
    """
    A failure-free trace and, for each configuration of the original execution, the index of the one that explains it.

    That is the one after the closest preceding committing border step, or the initial one.
    """

    trace: Trace
    mapping: tuple[int, ...]


@define
class Generation:
    """The steps since the last recovery: each with its epoch and whether it committed one."""

    steps: list[tuple[Step, int, bool]]
    gce: int


def generations(c: Configuration, trace: Sequence[Step]) -> list[Generation]:
    """Split a valid trace at its recoveries."""
    found = [Generation([], gce(c))]
    after = iter(configurations(c, trace))
    before = next(after)
    for step, now in zip(trace, after, strict=True):
        if step is RECOVER:
            found.append(Generation([], gce(now)))
        else:
            reached = gce(now)
            found[-1].steps.append((step, epoch_of(before, step.task), reached > found[-1].gce))
            found[-1].gce = reached
        before = now
    return found


def explain(c: Configuration, trace: Sequence[Step]) -> Explained:
    """Construct the explanation of a trace from c; raise Inapplicable if the trace does not apply."""
    constructed: list[Step] = []
    mapping = [0]
    split = generations(c, trace)
    for number, generation in enumerate(split):
        for step, epoch, commits in generation.steps:
            if epoch <= generation.gce:
                constructed.append(step)
            mapping.append(len(constructed) if commits else mapping[-1])
        if number < len(split) - 1:
            mapping.append(mapping[-1])
    return Explained(tuple(constructed), tuple(mapping))


def reordered(generation: Generation) -> list[int]:
    """Return step (2) of the proof as a permutation: what survives first, the rest behind it, both in their order."""
    survives = [index for index, (_, epoch, _) in enumerate(generation.steps) if epoch <= generation.gce]
    rest = [index for index, (_, epoch, _) in enumerate(generation.steps) if epoch > generation.gce]
    return survives + rest


def is_committing(before: Configuration, step: Step, after: Configuration) -> bool:
    """Recognise a committing border step: an I-Border that changes gce."""
    return step.rule is Rule.BORDER and gce(before) != gce(after)
