"""Whole cases."""

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from conformance.case import Case, Graph
from conformance.engine import EVERYTHING, Capabilities
from generators.failures import failures, holds
from generators.graphs import graphs
from generators.inputs import inputs
from generators.programs import programs
from generators.sizes import DEFAULT, Size


def cases(*, capabilities: Capabilities = EVERYTHING, size: Size = DEFAULT) -> SearchStrategy[Case]:
    """
    Cases that an engine of these capabilities can run.

    Shrinks towards one `digest` that reads one empty epoch and never fails.
    """
    size = size.within(capabilities)
    ops = programs(ops=capabilities.programs)
    shapes = graphs(sources=size.sources, tasks=size.tasks, inputs=size.inputs, programs=ops)
    return _cases(shapes, st.integers(1, size.epochs), capabilities, size)


@st.composite
def _cases(
    draw: DrawFn, shapes: SearchStrategy[Graph], lengths: SearchStrategy[int], capabilities: Capabilities, size: Size
) -> Case:
    graph = draw(shapes)
    epochs = draw(lengths)
    return Case(
        graph=graph,
        inputs=draw(inputs(graph=graph, epochs=epochs, most=size.events, flood=size.flood)),
        failures=draw(failures(graph=graph, epochs=epochs, capabilities=capabilities, most=size.failures)),
        holds=draw(holds(graph=graph, epochs=epochs, most=size.holds)),
    )
