"""Small questions about sequences that several parts of the judge ask."""

from collections.abc import Sequence

from conformance.case import Epochs
from conformance.programs import Event


def agreement(one: Sequence[object], other: Sequence[object]) -> int:
    """How many elements two sequences begin with in common."""
    differ = (index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differ, min(len(one), len(other)))


def joined(epochs: Epochs) -> tuple[Event, ...]:
    """A stream's events without its borders."""
    return tuple(event for epoch in epochs for event in epoch)
