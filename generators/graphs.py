"""Dataflow graphs."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.case import Graph, Task
from conformance.programs import Program
from generators.programs import programs as any_programs

SOURCES = "abcd"
TASKS = "tuvwxyzpqrmn"


def graphs(
    *,
    sources: int = 3,
    tasks: int = 5,
    inputs: int = 3,
    programs: SearchStrategy[Program[Any]] | None = None,
) -> SearchStrategy[Graph]:
    """
    Graphs of at most so many sources, tasks, and inputs a task: chains, joins, diamonds, disjoint parts.

    Shrinks towards one task that reads one source.

    A task refers to what it reads by numbers that are reduced to the streams there are, so that the rest of a graph
    keeps its meaning when a task in the middle of it is taken away.
    """
    references = st.lists(st.integers(0, 11), min_size=1, max_size=inputs)
    task = st.tuples(references, any_programs() if programs is None else programs)
    drawn = st.tuples(st.integers(1, sources), st.lists(task, min_size=1, max_size=tasks))
    return drawn.map(lambda pair: _graph(SOURCES[: pair[0]], pair[1]))


def _graph(sources: str, drawn: Sequence[tuple[list[int], Program[Any]]]) -> Graph:
    """The graph these numbers come to. Sources that nobody reads are left out, and the others take their names."""
    streams = list(sources)
    reads = []
    for name, (references, _) in zip(TASKS, drawn, strict=False):
        reads.append(tuple(dict.fromkeys(streams[number % len(streams)] for number in references)))
        streams.append(f"{name}-out")
    read = {stream for each in reads for stream in each}
    renamed = dict(zip((source for source in sources if source in read), SOURCES, strict=False))
    tasks = tuple(
        Task(name, tuple(renamed.get(stream, stream) for stream in each), f"{name}-out", program)
        for name, each, (_, program) in zip(TASKS, reads, drawn, strict=False)
    )
    return Graph(tuple(renamed.values()), tasks)
