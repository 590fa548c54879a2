"""Parts of a case, and shrinking by them."""

from hypothesis import given
from hypothesis import strategies as st

from conformance.campaign.shrink import smallest
from conformance.case import Crash
from conformance.generators import DEEP, cases, collect, corpus, parts
from conformance.generators.parts import ALL_OF_IT


def test_all_of_the_parts_are_the_case():
    flooded = collect(cases(size=DEEP), number=20, seed=0)
    assert any(len(epoch) > 10_000 for case in flooded for epochs in case.inputs.values() for epoch in epochs)
    for case in [*corpus().values(), *collect(cases(), number=50, seed=0), *flooded]:
        tried = []
        assert smallest(parts(case), ALL_OF_IT, lambda part, tried=tried: bool(tried.append(part))) is None
        assert tried == [case]


@given(cases(), st.data())
def test_parts_keep_names_programs_and_events(case, data):
    part = data.draw(parts(case))
    before = {task.name: task for task in case.graph.tasks}
    for task in part.graph.tasks:
        assert (task.output, task.program) == (before[task.name].output, before[task.name].program)
    assert part.epochs <= case.epochs
    assert set(part.graph.sources) <= set(case.graph.sources)
    assert len(part.failures) <= len(case.failures)
    for source, epochs in part.inputs.items():
        events = [event for epoch in case.inputs[source] for event in epoch]
        assert all(event == 1 or event in events for epoch in epochs for event in epoch)


def test_a_hand_written_case_shrinks_to_what_fails():
    def fails(case):
        asked.append(case)
        crashes = [failure for failure in case.failures if isinstance(failure, Crash)]
        return any(len(task.inputs) > 1 for task in case.graph.tasks) and any(crash.epoch > 1 for crash in crashes)

    for case in corpus().values():
        asked: list = []
        if not fails(case):
            continue
        small = smallest(parts(case), ALL_OF_IT, fails)
        assert len(small.graph.tasks) <= 2
        assert small.epochs == 2
        assert len(small.failures) == 1
        assert not any(epoch for epochs in small.inputs.values() for epoch in epochs)
        assert len(set(map(repr, asked))) < 120
