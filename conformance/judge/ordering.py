"""
Orderings: the order in which one task took its inputs in one epoch, or the proof that no order explains its output.

The inputs of a task are counted from 0 and called ports, so an order is a sequence of ports.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

from attrs import frozen

from conformance.programs import Event

Segment: TypeAlias = tuple[Event, ...]
"""What a stream carries in one epoch."""


@frozen
class Ordering:
    """An order that explains the output: the port of each event taken, and the state after the last."""

    order: tuple[int, ...]
    state: Any


@frozen
class NoOrdering:
    """No order explains the output: how much of it some order explains, and what could have come next."""

    position: int
    expected: tuple[Event, ...] = ()


def in_order(events: Iterable[Event]) -> tuple[Event, ...]:
    """Sort events, each once: integers, then text."""
    return tuple(sorted(set(events), key=lambda event: (isinstance(event, str), event)))
