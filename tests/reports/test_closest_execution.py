"""Tests of the closest failure-free execution and of the alignment with it."""

from attrs import evolve
from hypothesis import assume, given
from hypothesis import strategies as st

from conformance.adapters.reference import Reference
from conformance.engine import RunRequest
from conformance.generators import cases
from conformance.judge import Conforms, judge
from conformance.model.configuration import Rule, initial
from conformance.model.snapshot import observed
from conformance.model.trace import last
from conformance.observation import Observation
from conformance.reports.alignment import align
from conformance.reports.closest_execution import find_closest_execution
from tests.engines import spoilt


def seen_of(case):
    (seen,) = Reference([]).run([RunRequest(case)])
    return seen


@given(cases())
def test_the_closest_execution_is_failure_free(case):
    found = find_closest_execution(case, seen_of(case))
    assert {step.rule for step in found.trace} <= {Rule.EVENT, Rule.BORDER}
    assert observed(last(initial(found.case), found.trace)) == dict(found.streams)


@given(cases())
def test_without_interleavings_the_distance_counts_lost_events(case):
    assume(all(len(task.inputs) == 1 for task in case.graph.tasks))
    seen = seen_of(case)
    assert find_closest_execution(case, seen).distance == 0
    lost = sum(any(seen.observations[-1].streams[sink]) for sink in case.graph.sinks)
    assert find_closest_execution(case, spoilt(seen, case)).distance == lost


@given(cases(), st.data())
def test_an_extra_event_is_at_distance_one(case, data):
    assume(all(len(task.inputs) == 1 for task in case.graph.tasks))
    seen = seen_of(case)
    streams = dict(seen.observations[-1].streams)
    sink = data.draw(st.sampled_from(case.graph.sinks))
    streams[sink] = (*streams[sink][:-1], (*streams[sink][-1], 7))
    assert find_closest_execution(case, evolve(seen, observations=(Observation(streams),))).distance == 1


@given(cases())
def test_the_first_unexplained_event_is_marked_once(case):
    seen = spoilt(seen_of(case), case)
    verdict = judge(case, seen)
    assume(not isinstance(verdict, Conforms) and hasattr(verdict, "findings"))
    rows = align(case, seen, verdict.findings, find_closest_execution(case, seen).streams)
    marked = [token for row in rows for token in row.observed if token.kind == "first"]
    named = [finding for finding in verdict.findings if finding.stream is not None]
    assert len(marked) == bool(named and named[0].position is not None)
    assert not marked or rows[0].marked
