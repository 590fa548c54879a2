"""Whole cases."""

from collections.abc import Sequence

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.branches import split
from conformance.case import Case
from conformance.engine import EVERYTHING, Capabilities
from conformance.generators.failures import Idea, delays, holds_of, ideas, schedule_of
from conformance.generators.graphs import Sketch, graph_of, sketches
from conformance.generators.inputs import Arrivals, arrivals, inputs_of
from conformance.generators.programs import programs
from conformance.generators.sizes import DEFAULT, Size


def cases(*, capabilities: Capabilities = EVERYTHING, size: Size = DEFAULT) -> SearchStrategy[Case]:
    """
    Cases that an engine of these capabilities can run.

    Shrinks towards one `digest` that reads one empty epoch and never fails.

    Graph, input, failures and holds are drawn apart from each other and refer to each other by numbers that always mean
    something. So any part of a case can be taken away while the rest of it stays what it was: that is what makes cases
    shrink well (and drawing them fast, as no strategy depends on a value).
    """
    size = size.within(capabilities)
    ops = programs(ops=capabilities.programs)

    def put_together(
        drawn: tuple[Sketch, Sequence[Arrivals], Sequence[Idea], Sequence[tuple[int, int]]],
    ) -> Case:
        sketch, epochs, struck, late = drawn
        graph = graph_of(sketch, size.sources)
        case = Case(
            graph=graph,
            inputs=inputs_of(epochs, graph.sources, most=size.events, flood=size.flood),
            failures=schedule_of(struck, graph, len(epochs)),
            holds=holds_of(late, graph, len(epochs)),
        )
        return split(case) if capabilities.branches else case

    return st.tuples(
        sketches(tasks=size.tasks, inputs=size.inputs, programs=ops),
        st.lists(arrivals(most=size.events, flood=size.flood), min_size=1, max_size=size.epochs),
        ideas(epochs=size.epochs, capabilities=capabilities, most=size.failures),
        delays(epochs=size.epochs, most=size.holds),
    ).map(put_together)
