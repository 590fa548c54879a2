"""The strategy for cases, put together from those for graphs, inputs, failures and holds."""

from collections.abc import Sequence

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.branches import split_keyed_sums
from conformance.case import Case
from conformance.engine import EVERYTHING, Capabilities
from conformance.generators.failures import (
    FailureSketch,
    HoldSketch,
    failure_sketches,
    hold_sketches,
    holds_of,
    schedule_of,
)
from conformance.generators.graphs import GraphSketch, graph_of, graph_sketches
from conformance.generators.inputs import Arrivals, arrivals, inputs_of
from conformance.generators.programs import programs
from conformance.generators.sizes import DEFAULT, Size


def cases(*, capabilities: Capabilities = EVERYTHING, size: Size = DEFAULT) -> SearchStrategy[Case]:
    """
    Cases that an engine of these capabilities can run.

    Shrinks towards one `digest` that reads one empty epoch and never fails.

    Graph, input, failures and holds are drawn independently, as sketches that refer to each other by numbers, modulo
    how many there are. So any part of a case can be removed while the rest of it stays what it was: that is what makes
    cases shrink well (and drawing them fast, as no strategy depends on a value).
    """
    size = size.within(capabilities)
    ops = programs(ops=capabilities.programs)

    def assemble(
        drawn: tuple[GraphSketch, Sequence[Arrivals], Sequence[FailureSketch], Sequence[HoldSketch]],
    ) -> Case:
        tasks, epochs, failures, holds = drawn
        graph = graph_of(tasks, size.sources)
        case = Case(
            graph=graph,
            inputs=inputs_of(epochs, graph.sources, most=size.events, flood=size.flood),
            failures=schedule_of(failures, graph, len(epochs)),
            holds=holds_of(holds, graph, len(epochs)),
        )
        return split_keyed_sums(case) if capabilities.branches else case

    return st.tuples(
        graph_sketches(tasks=size.tasks, inputs=size.inputs, programs=ops),
        st.lists(arrivals(most=size.events, flood=size.flood), min_size=1, max_size=size.epochs),
        failure_sketches(epochs=size.epochs, capabilities=capabilities, most=size.failures),
        hold_sketches(epochs=size.epochs, most=size.holds),
    ).map(assemble)
