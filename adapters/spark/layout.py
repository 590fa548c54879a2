"""
A batch of cases as data for one query: which task reads what, level by level.

Every task of every case is a group of its own in a stateful operator; all tasks of one level of their graphs share an
operator, so there is one for each level. Rows are addressed: a row says for which task, and as which of its inputs, it
is meant. What is needed further down, or observed at the end, goes through one group that passes it on for all cases.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from attrs import frozen

from conformance.case import Case, Graph

PASSED_ON = ""
"""Where a task's name would stand: for the group that passes rows on."""

PASSES_ON = -1
"""The owner of that group, where another's is a case."""

Address: TypeAlias = tuple[str, int]
"""A task and which of its inputs."""


def levels(graph: Graph) -> dict[str, int]:
    """By stream, how many tasks are on the longest way to it: 0 for a source."""
    found = dict.fromkeys(graph.sources, 0)
    for task in graph.in_order:
        found[task.output] = 1 + max(found[stream] for stream in task.inputs)
    return found


def owner(case: int, task: str) -> int:
    """Whose group it is: a task's is its case's own."""
    return PASSES_ON if task == PASSED_ON else case


@frozen
class Layout:
    """One case, laid out: for each level and stream the addresses that a row of that stream goes to there."""

    case: Case
    routes: Mapping[tuple[int, str], tuple[Address, ...]]
    depth: int


def layout(case: Case, observed: frozenset[str], depth: int) -> Layout:
    """
    Where rows go, level by level; behind the last level, those of observed streams go out.

    Every case of a batch is laid out as deep as the deepest.
    """
    level = levels(case.graph)
    routes: dict[tuple[int, str], tuple[Address, ...]] = {}
    for stream, made in level.items():
        readers = [
            (level[task.output], task.name, task.inputs.index(stream))
            for task in case.graph.tasks
            if stream in task.inputs
        ]
        last = depth + 1 if stream in observed else max((at for at, _, _ in readers), default=0)
        for at in range(made + 1, depth + 2):
            here = tuple((name, place) for there, name, place in readers if there == at)
            routes[at, stream] = here + (((PASSED_ON, 0),) if last > at or (last == at == depth + 1) else ())
    return Layout(case, routes, depth)


def layouts(cases: Sequence[tuple[Case, frozenset[str]]]) -> list[Layout]:
    """A batch."""
    depth = max(max(levels(case.graph).values()) for case, _ in cases)
    return [layout(case, observed, depth) for case, observed in cases]
