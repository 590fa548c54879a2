"""Strategies for recorded input: the events of each source, epoch by epoch."""

from collections.abc import Sequence
from itertools import islice
from typing import TypeAlias

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
The events to choose from, the likelier the more often they are listed: small integers, so that values repeat;
"reset"; the largest integer; and text that is easily forgotten to be escaped.
"""

MOST_ARRIVALS = 8
"""The largest number of runs that are drawn for an epoch; a larger epoch has longer runs, which are made by rule."""

Arrivals: TypeAlias = Sequence[tuple[int, Event, int]]
"""The events that arrive in an epoch, in runs: a source by number, the first event of the run, and its length."""


def events() -> SearchStrategy[Event]:
    """Events. Shrinks towards 0."""
    return st.sampled_from(EVENTS)


def inputs(*, graph: Graph, epochs: int, most: int = 5, flood: int = 0) -> SearchStrategy[dict[str, Epochs]]:
    """
    Input for every source of a graph: `epochs` epochs of at most `most` events or, now and then, `flood` of them.

    Empty epochs, silent sources, skew and repeated values come up by themselves. Shrinks towards empty epochs.
    """
    drawn = st.lists(arrivals(most=most, flood=flood), min_size=epochs, max_size=epochs)
    return drawn.map(lambda each: inputs_of(each, graph.sources, most=most, flood=flood))


def arrivals(*, most: int, flood: int) -> SearchStrategy[Arrivals]:
    """
    Sketches of one epoch of all sources.

    Sources are numbers, modulo how many there are, so that an epoch keeps its meaning when a source is removed.
    """
    lengths = [1] * 12
    if most > MOST_ARRIVALS:
        lengths += [most // 8, most // 2, most]
    if flood:
        lengths.append(flood)
    return st.lists(
        st.tuples(st.integers(0, 3), events(), st.sampled_from(lengths)), max_size=min(2 * most, MOST_ARRIVALS)
    )


def inputs_of(epochs: Sequence[Arrivals], sources: Sequence[str], *, most: int, flood: int) -> dict[str, Epochs]:
    """Make the input of these epochs: for each source its own events, none longer than it may be."""
    return {
        source: tuple(_segment(epoch, number, len(sources), most, flood) for epoch in epochs)
        for number, source in enumerate(sources)
    }


def _segment(epoch: Arrivals, source: int, sources: int, most: int, flood: int) -> tuple[Event, ...]:
    runs = [(event, length) for number, event, length in epoch if number % sources == source]
    longest = max((length for _, length in runs), default=0)
    each = (_nth(event, index) for event, length in runs for index in range(length))
    return tuple(islice(each, flood if flood and longest == flood else most))


def _nth(event: Event, index: int) -> Event:
    """Return the index-th event of a run: integers count on, so that a run is not one value over and over."""
    return event if isinstance(event, str) else (event + index) % P
