"""
What is left of a case when parts of it are taken away.

A case that was drawn can be shrunk by what it was drawn from. One that was not (somebody wrote it, or it is several
cases at once) can be shrunk by this; and as whatever stays is what it was, names and all, it is the quicker way for
any.
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
"""Taken away; or there in the plainest form: a task whose readers read its inputs instead, an event that is a 1."""

AS_IT_WAS = 3
"""(A power of two, less one: every choice that bytes can make is one.)"""

ALL_OF_IT = b"\xff" * 8192
"""The bytes of which Hypothesis makes the case itself. There are no more than that, and a choice takes two of them."""

MOST = 2000
"""Events that are chosen one by one. Where there are more, neighbours share a choice, as many as it takes."""


def parts(case: Case) -> SearchStrategy[Case]:
    """Shrinks towards one task and one empty epoch."""
    return _parts(case)


@st.composite
def _parts(draw: DrawFn, case: Case) -> Case:
    def choices(number: int) -> list[int]:
        return [draw(st.integers(0, AS_IT_WAS)) for _ in range(number)]

    graph = _graph(case.graph, choices(len(case.graph.tasks)))
    epochs = [number for number, choice in enumerate(choices(case.epochs), start=1) if choice != GONE] or [1]
    failures = _placed(case.failures, choices(len(case.failures)), graph, epochs)
    holds = _placed(case.holds, choices(len(case.holds)), graph, epochs)
    inputs: dict[str, Epochs] = {}
    together = 1 + sum(len(events) for played in case.inputs.values() for events in played) // MOST
    for source in case.graph.sources:
        played = [_events(some, choices(ceil(len(some) / together)), together) for some in case.inputs[source]]
        inputs[source] = tuple(played[number - 1] for number in epochs)
    left = {source: inputs[source] for source in graph.sources}
    return Case(graph, left, failures, holds, name=case.name)


def _graph(graph: Graph, choices: Sequence[int]) -> Graph:
    """The graph without some tasks. The last task stays, if nothing else does."""
    choice = {task.name: chosen for task, chosen in zip(graph.tasks, choices, strict=True)}
    instead: dict[str, tuple[str, ...]] = {}
    kept: dict[str, Task] = {}
    for task in graph.in_order:
        inputs = tuple(dict.fromkeys(to for stream in task.inputs for to in instead.get(stream, (stream,))))
        if inputs and choice[task.name] > PLAIN:
            kept[task.name] = evolve(task, inputs=inputs)
        else:
            instead[task.output] = inputs if choice[task.name] == PLAIN else ()
    if not kept:
        last = graph.in_order[-1]
        kept[last.name] = evolve(last, inputs=graph.sources)
    read = {stream for task in kept.values() for stream in task.inputs}
    return Graph(
        tuple(source for source in graph.sources if source in read),
        tuple(kept[task.name] for task in graph.tasks if task.name in kept),
    )


def _events(events: Sequence[Event], choices: Sequence[int], together: int) -> tuple[Event, ...]:
    chosen = ((event, choices[place // together]) for place, event in enumerate(events))
    return tuple(
        1 if choice == PLAIN and isinstance(event, int) else event for event, choice in chosen if choice != GONE
    )


def _placed(placed: Sequence[P], choices: Sequence[int], graph: Graph, epochs: Sequence[int]) -> tuple[P, ...]:
    """The failures or holds that are left, where epochs are counted anew."""
    tasks = {task.name for task in graph.tasks}
    return tuple(
        evolve(each, epoch=epochs.index(each.epoch) + 1)
        for each, choice in zip(placed, choices, strict=True)
        if choice != GONE and each.epoch in epochs and getattr(each, "task", None) in tasks | {None}
    )
