"""
How the rows of several cases are routed through one streaming query, level by level.

Every task of every case is a group with its own key in a stateful operator. All tasks of one level of their graphs
share an operator, so there is one operator for each level. Rows are addressed: a row has the name of a task and the
number of one of its inputs. One group for all cases forwards the rows that a later level needs or that are observed at
the end.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from attrs import frozen

from conformance.case import Case, Graph

FORWARD = ""
"""The task name of the group that forwards rows."""

FORWARD_OWNER = -1
"""The owner of the group that forwards rows; the owner of any other group is its case."""

Address: TypeAlias = tuple[str, int]
"""A task, and the number of one of its inputs."""


def levels(graph: Graph) -> dict[str, int]:
    """Count, for each stream, the tasks on the longest path to it: 0 for a source."""
    found = dict.fromkeys(graph.sources, 0)
    for task in graph.in_order:
        found[task.output] = 1 + max(found[stream] for stream in task.inputs)
    return found


def group_owner(case: int, task: str) -> int:
    """Return the owner of a group, which is part of its key."""
    return FORWARD_OWNER if task == FORWARD else case


@frozen
class RowRouting:
    """The routes of one case: the addresses of a row, by level and stream."""

    case: Case
    routes: Mapping[tuple[int, str], tuple[Address, ...]]
    depth: int


def route_case(case: Case, observed: frozenset[str], depth: int) -> RowRouting:
    """
    Route the rows of a case through `depth` levels; the level behind the last one has the rows of observed streams.

    The depth is that of the deepest case in the query.
    """
    level = levels(case.graph)
    routes: dict[tuple[int, str], tuple[Address, ...]] = {}
    for stream, created in level.items():
        readers = [
            (level[task.output], task.name, task.inputs.index(stream))
            for task in case.graph.tasks
            if stream in task.inputs
        ]
        last = depth + 1 if stream in observed else max((at for at, _, _ in readers), default=0)
        for at in range(created + 1, depth + 2):
            is_forwarded = last > at or (last == at == depth + 1)
            addresses = tuple((name, inp) for reader, name, inp in readers if reader == at)
            routes[at, stream] = addresses + (((FORWARD, 0),) if is_forwarded else ())
    return RowRouting(case, routes, depth)


def route_cases(cases: Sequence[tuple[Case, frozenset[str]]]) -> list[RowRouting]:
    """Route the rows of all cases of a query, each case with its observed streams."""
    depth = max(max(levels(case.graph).values()) for case, _ in cases)
    return [route_case(case, observed, depth) for case, observed in cases]
