"""Strategies for dataflow graphs."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.case import Graph, Task
from conformance.generators.programs import programs as any_programs
from conformance.programs import Program

SOURCES = "abcd"
TASKS = "tuvwxyzpqrmn"

REFERENCES = (0, 1, 2, -1, -1, -1, -1, -1, -2, -2, 3, 4)
"""
The streams that a task may read, by index: sources first, then outputs. Negative indexes count from the newest output,
and make a graph deep.
"""

GraphSketch: TypeAlias = Sequence[tuple[Sequence[int], Program[Any]]]
"""A graph before its streams have names: for each task the streams it reads, by number, and its program."""


def graphs(
    *,
    sources: int = 3,
    tasks: int = 5,
    inputs: int = 3,
    programs: SearchStrategy[Program[Any]] | None = None,
) -> SearchStrategy[Graph]:
    """
    Graphs of at most `sources` sources, `tasks` tasks, and `inputs` inputs a task.

    There are chains, joins, diamonds and disjoint parts among them.

    Shrinks towards one task that reads one source.
    """
    drawn = graph_sketches(tasks=tasks, inputs=inputs, programs=programs or any_programs())
    return drawn.map(lambda sketch: graph_of(sketch, sources))


def graph_sketches(*, tasks: int, inputs: int, programs: SearchStrategy[Program[Any]]) -> SearchStrategy[GraphSketch]:
    """Sketches of graphs: every list of tasks makes a graph, so that shrinking can remove any of them."""
    references = st.lists(st.sampled_from(REFERENCES), min_size=1, max_size=inputs)
    return st.lists(st.tuples(references, programs), min_size=1, max_size=tasks)


def graph_of(sketch: GraphSketch, sources: int) -> Graph:
    """
    Make a graph of a sketch.

    A number is taken modulo how many streams there are, so each of them means something. Sources that no task reads are
    left out, and the others take their names.
    """
    streams = list(SOURCES[:sources])
    reads = []
    for name, (references, _) in zip(TASKS, sketch, strict=False):
        reads.append([streams[place] for place in sorted({number % len(streams) for number in references})])
        streams.append(f"{name}-out")
    read = {stream for each in reads for stream in each}
    renamed = dict(zip((source for source in SOURCES[:sources] if source in read), SOURCES, strict=False))
    tasks = tuple(
        Task(name, tuple(renamed.get(stream, stream) for stream in each), f"{name}-out", program)
        for name, each, (_, program) in zip(TASKS, reads, sketch, strict=False)
    )
    return Graph(tuple(renamed.values()), tasks)
