"""The routing of rows, without Spark."""

from hypothesis import given
from hypothesis import strategies as st

from conformance.adapters.spark.routing import FORWARD, levels, route_cases
from conformance.adapters.states import dump, load
from conformance.generators import cases


def carried(routing, observed):
    """Follow every stream level by level, as rows do; return the inputs of each task, and the output."""
    case = routing.case
    present = set(case.graph.sources)
    reached, level = {}, levels(case.graph)
    for at in range(1, routing.depth + 1):
        following = set()
        for stream in present:
            for task, number in routing.routes[at, stream]:
                if task == FORWARD:
                    following.add(stream)
                else:
                    reached.setdefault(task, set()).add((stream, number))
        following |= {task.output for task in case.graph.tasks if level[task.output] == at}
        present = following
    out = {stream for stream in present if routing.routes[routing.depth + 1, stream]}
    assert observed is None or out == observed
    return reached, out


@given(st.lists(st.tuples(cases(), st.booleans()), min_size=1, max_size=3))
def test_every_task_gets_its_inputs_and_observed_streams_are_output(drawn):
    chosen = [(case, frozenset(case.graph.sinks if sinks else case.graph.streams)) for case, sinks in drawn]
    for (case, observed), routing in zip(chosen, route_cases(chosen), strict=True):
        reached, out = carried(routing, observed)
        assert out == observed
        assert reached == {
            task.name: {(stream, number) for number, stream in enumerate(task.inputs)} for task in case.graph.tasks
        }


@given(cases())
def test_a_state_survives_dump_and_load(case):
    for task in case.graph.tasks:
        state = task.program.initial
        for event in [5, "reset", 7, "a", 7]:
            state, _ = task.program(state, event)
            assert load(dump(state)) == state
