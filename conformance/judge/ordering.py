"""What can be said of one task in one epoch: an order that explains its output, or how far any gets."""

from collections.abc import Iterable
from typing import Any, TypeAlias

from attrs import frozen

from conformance.programs import Event

Segment: TypeAlias = tuple[Event, ...]
"""What a stream carries in one epoch."""


@frozen
class Ordering:
    """An order that explains the output: which input is taken at each step, and the state it leaves."""

    order: tuple[int, ...]
    state: Any


@frozen
class NoOrdering:
    """No order explains the output: how much of it some order explains, and what could have come next."""

    position: int
    expected: tuple[Event, ...] = ()


def in_order(events: Iterable[Event]) -> tuple[Event, ...]:
    """Each event once: integers, then text."""
    return tuple(sorted(set(events), key=lambda event: (isinstance(event, str), event)))
