"""
The strategy that draws parts of a given case, to shrink it.

Hypothesis shrinks a case through the bytes from which it was drawn. A hand-written case, or a batch merged into one
case, has no such bytes, so its parts are drawn instead. Parts keep their names, which makes this the faster way to
shrink drawn cases, too.
"""

from collections.abc import Sequence
from math import ceil
from typing import TypeVar

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from conformance.case import Case, Epochs, Failure, Graph, Hold, Task
from conformance.programs import Event

P = TypeVar("P", bound=Failure | Hold)

GONE, PLAIN = 0, 1
"""Removed; or replaced by the plainest form: a task by its inputs, which its readers read instead, an event by a 1."""

UNCHANGED = 3
"""Kept as it is. Choices go from 0 to 3, so any two bits make one."""

ALL_OF_IT = b"\xff" * 8192
"""The bytes from which Hypothesis draws the case itself: Hypothesis takes no more, and a choice takes two of them."""

MOST_CHOICES = 2000
"""The largest number of choices of events. Of more events, as many neighbours as needed share a choice."""


def parts(case: Case) -> SearchStrategy[Case]:
    """
    Cases that are parts of this one: some of its tasks, epochs, events, failures and holds.

    Shrinks towards one task and one empty epoch. `ALL_OF_IT` gives the case itself.
    """
    return _parts(case)


@st.composite
def _parts(draw: DrawFn, case: Case) -> Case:
    def choices(number: int) -> list[int]:
        return [draw(st.integers(0, UNCHANGED)) for _ in range(number)]

    graph = _graph(case.graph, choices(len(case.graph.tasks)))
    epochs = [number for number, choice in enumerate(choices(case.epochs), start=1) if choice != GONE] or [1]
    failures = _placed(case.failures, choices(len(case.failures)), graph, epochs)
    holds = _placed(case.holds, choices(len(case.holds)), graph, epochs)
    inputs: dict[str, Epochs] = {}
    shared = 1 + sum(len(events) for played in case.inputs.values() for events in played) // MOST_CHOICES
    for source in case.graph.sources:
        played = [_events(events, choices(ceil(len(events) / shared)), shared) for events in case.inputs[source]]
        inputs[source] = tuple(played[number - 1] for number in epochs)
    read = {source: inputs[source] for source in graph.sources}
    return Case(graph, read, failures, holds, name=case.name)


def _graph(graph: Graph, choices: Sequence[int]) -> Graph:
    """Remove tasks from a graph. The last task stays, if no other does."""
    choice = {task.name: chosen for task, chosen in zip(graph.tasks, choices, strict=True)}
    replaced: dict[str, tuple[str, ...]] = {}
    kept: dict[str, Task] = {}
    for task in graph.in_order:
        inputs = tuple(dict.fromkeys(to for stream in task.inputs for to in replaced.get(stream, (stream,))))
        if inputs and choice[task.name] > PLAIN:
            kept[task.name] = evolve(task, inputs=inputs)
        else:
            replaced[task.output] = inputs if choice[task.name] == PLAIN else ()
    if not kept:
        last = graph.in_order[-1]
        kept[last.name] = evolve(last, inputs=graph.sources)
    read = {stream for task in kept.values() for stream in task.inputs}
    return Graph(
        tuple(source for source in graph.sources if source in read),
        tuple(kept[task.name] for task in graph.tasks if task.name in kept),
    )


def _events(events: Sequence[Event], choices: Sequence[int], shared: int) -> tuple[Event, ...]:
    chosen = ((event, choices[place // shared]) for place, event in enumerate(events))
    return tuple(
        1 if choice == PLAIN and isinstance(event, int) else event for event, choice in chosen if choice != GONE
    )


def _placed(placed: Sequence[P], choices: Sequence[int], graph: Graph, epochs: Sequence[int]) -> tuple[P, ...]:
    """Keep failures or holds whose epoch and task are still there, with the new numbers of their epochs."""
    tasks = {task.name for task in graph.tasks}
    return tuple(
        evolve(each, epoch=epochs.index(each.epoch) + 1)
        for each, choice in zip(placed, choices, strict=True)
        if choice != GONE and each.epoch in epochs and getattr(each, "task", None) in tasks | {None}
    )
