"""Small functions of sequences that several modules of the judge share."""

from collections.abc import Sequence

from conformance.case import Epochs
from conformance.programs import Event


def agreement(one: Sequence[object], other: Sequence[object]) -> int:
    """Count the elements that two sequences begin with in common."""
    differ = (index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differ, min(len(one), len(other)))


def joined(epochs: Epochs) -> tuple[Event, ...]:
    """Join a stream's epochs: its events without its borders."""
    return tuple(event for epoch in epochs for event in epoch)
