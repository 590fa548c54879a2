"""Recorded input: what each source carries."""

from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.case import Epochs, Graph
from conformance.programs import RESET, Event, P

EVENTS: tuple[Event, ...] = (
    *[0, 1, 2, 3, 4, 5] * 4,
    *[RESET] * 3,
    *[P - 1, P // 2, 65_536],
    *["", "resets", '<b>"&', "ü…\u202e", "x" * 64],
)
"""
What is chosen from, the likelier the more often it is listed: small integers, so that values repeat; "reset"; the
largest integer; and text that somebody will forget to escape.
"""

FEW = 8
"""Up to so many events are drawn one by one; more are made by rule, as nobody would look at each."""


def events() -> SearchStrategy[Event]:
    """Events. Shrinks towards 0."""
    return st.sampled_from(EVENTS)


@cache
def segments(*, most: int = 5, flood: int = 0) -> SearchStrategy[tuple[Event, ...]]:
    """
    One epoch of one source: at most so many events, or, now and then, a flood of them.

    Shrinks towards an empty one.
    """
    few = st.lists(events(), max_size=min(most, FEW)).map(tuple)
    kinds = [few] * 6
    if most > FEW:
        kinds += [st.builds(_ramp, st.integers(0, most), st.integers(1, 6))] * 3
    if flood:
        kinds += [st.builds(_ramp, st.just(flood), st.integers(1, 6))]
    return few if kinds[-1] is few else st.one_of(kinds)


def _ramp(length: int, step: int) -> tuple[Event, ...]:
    return tuple(number * step % 7 for number in range(length))


def inputs(*, graph: Graph, epochs: int, most: int = 5, flood: int = 0) -> SearchStrategy[dict[str, Epochs]]:
    """
    Input for every source of a graph, so many epochs each.

    Empty epochs, silent sources, skew and repeated values come up by themselves. Shrinks towards empty epochs.
    """
    return _tapes(graph.sources, epochs, most, flood)


@cache
def _tapes(sources: tuple[str, ...], epochs: int, most: int, flood: int) -> SearchStrategy[dict[str, Epochs]]:
    one = st.tuples(*[segments(most=most, flood=flood)] * epochs)
    return st.fixed_dictionaries(dict.fromkeys(sources, one))
