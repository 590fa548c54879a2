"""Where rows go, without Spark."""

from hypothesis import given
from hypothesis import strategies as st

from conformance.adapters.spark.layout import PASSED_ON, layouts, levels
from conformance.adapters.states import dump, load
from conformance.generators import cases


def carried(layout, observed):
    """Follow every stream level by level, as rows do; what reaches each task, and what goes out at the end."""
    case = layout.case
    there = set(case.graph.sources)
    reached, level = {}, levels(case.graph)
    for at in range(1, layout.depth + 1):
        following = set()
        for stream in there:
            for task, place in layout.routes[at, stream]:
                if task == PASSED_ON:
                    following.add(stream)
                else:
                    reached.setdefault(task, set()).add((stream, place))
        following |= {task.output for task in case.graph.tasks if level[task.output] == at}
        there = following
    out = {stream for stream in there if layout.routes[layout.depth + 1, stream]}
    assert observed is None or out == observed
    return reached, out


@given(st.lists(st.tuples(cases(), st.booleans()), min_size=1, max_size=3))
def test_every_task_gets_all_its_inputs_and_what_is_observed_comes_out(drawn):
    chosen = [(case, frozenset(case.graph.sinks if sinks else case.graph.streams)) for case, sinks in drawn]
    for (case, observed), layout in zip(chosen, layouts(chosen), strict=True):
        reached, out = carried(layout, observed)
        assert out == observed
        assert reached == {
            task.name: {(stream, place) for place, stream in enumerate(task.inputs)} for task in case.graph.tasks
        }


@given(cases())
def test_a_programs_state_is_restored_as_it_was(case):
    for task in case.graph.tasks:
        state = task.program.initial
        for event in [5, "reset", 7, "a", 7]:
            state, _ = task.program(state, event)
            assert load(dump(state)) == state
