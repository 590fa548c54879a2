"""Layout and drawing of space-time diagrams."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from conformance.adapters.mutants import MUTANTS
from conformance.adapters.reference import Reference
from conformance.engine import RunRequest
from conformance.generators import cases, corpus
from conformance.reports.lanes import lay_out
from conformance.reports.spacetime import draw_spacetime
from conformance.reports.timeline import TimelineEntry, read_log


def timeline_of(case):
    (seen,) = Reference([]).run([RunRequest(case)])
    return read_log(case, seen.log)


@given(cases())
def test_effects_are_drawn_right_of_their_causes(case):
    layout = lay_out(case, timeline_of(case))
    for message in layout.messages:
        assert message.end is None or message.start[0] < message.end[0]
    for task in case.graph.tasks:
        columns = [position[0] for entry, position in layout.entries if entry.task == task.name]
        assert all(one < other for one, other in pairwise(columns))


@given(cases())
def test_every_read_event_has_an_arrow_and_every_recovery_an_attempt(case):
    timeline = timeline_of(case)
    layout = lay_out(case, timeline)
    taken = [m for m in layout.messages if m.end is not None and m.stream not in case.graph.sinks]
    assert len(taken) == sum(entry.kind == "event" for entry in timeline)
    assert len(layout.attempts) == 1 + sum(entry.kind == "recover" for entry in timeline)


@given(cases())
def test_each_epoch_is_committed_by_one_cut_through_all_tasks(case):
    layout = lay_out(case, timeline_of(case))
    tasks = set(range(layout.sources, layout.sources + layout.tasks))
    whole = [epoch for each in layout.attempts for epoch, cut in each.cuts.items() if tasks <= cut.keys()]
    assert sorted(whole) == list(range(1, case.epochs + 1))


@given(cases())
def test_every_failure_is_marked_and_lasts_until_the_recovery(case):
    timeline = timeline_of(case)
    layout = lay_out(case, timeline)
    assert len(layout.failures) == sum(entry.kind == "fail" for entry in timeline)
    for column, lane in layout.failures:
        assert any(lane == each and since <= column < until for each, since, until in layout.outages)


def test_a_message_kept_in_flight_crosses_the_recovery():
    case = corpus()["in-flight-kept"]
    seen = MUTANTS["in-flight-kept"](RunRequest(case)).run()
    layout = lay_out(case, read_log(case, seen.log))
    recovered = layout.attempts[0].end
    assert any(m.end is not None and m.start[0] < recovered < m.end[0] for m in layout.messages)


def test_an_undelivered_message_has_no_end():
    case = corpus()["in-flight-lost"]
    layout = lay_out(case, timeline_of(case))
    assert [m for m in layout.messages if m.end is None]


def test_a_brief_diagram_has_fewer_elements_and_the_same_labels():
    case = corpus()["paper-observed-execution"]
    timeline = timeline_of(case)
    whole, brief = (draw_spacetime(case, timeline, "x", brief=each) for each in (False, True))
    assert brief.count("<") < whole.count("<") / 2
    assert whole.count("<tspan") == brief.count("<tspan")


@given(cases(), st.data())
def test_any_log_can_be_drawn(case, data):
    tasks = st.sampled_from([task.name for task in case.graph.tasks])
    streams = st.sampled_from(case.graph.streams)
    numbers = st.integers(-1, 5) | st.just(2**40)
    sends = st.lists(st.tuples(numbers, st.none() | st.integers(0, 9) | st.just("<x>")), max_size=3)
    dos = st.sampled_from(["event", "border", "fail", "recover", "look"])
    entry = {"do": dos, "task": tasks, "stream": streams, "epoch": numbers, "seq": numbers, "sends": sends}
    timeline = read_log(case, data.draw(st.lists(st.fixed_dictionaries(entry), max_size=25)))
    for brief in (False, True):
        assert draw_spacetime(case, timeline, "x", brief=brief).endswith("</svg>")


def test_log_entries_that_do_not_fit_the_case_are_left_out():
    case = corpus()["paper-incremental-average"]
    strange = [
        7, None, [], {}, {"do": "dance"}, {"do": "fail", "task": "stranger"}, {"do": "fail", "task": ["average"]},
        {"do": "event", "task": "average", "stream": "averages"},
        {"do": "border", "task": "average", "epoch": -1, "sends": [[True], "x", [1, {}], [2, 3.5]]},
    ]  # fmt: skip
    assert read_log(case, strange) == (TimelineEntry("border", "average"),)
    assert read_log(case, [{"do": "border", "task": "average", "epoch": 1}] * 10_000) == ()
    assert read_log(case, [{"do": "look"}]) == ()
