"""Histograms of times, epochs in flight, and coverage groups."""

from collections import Counter

import pytest
from hypothesis import given

from conformance.adapters.mutants.correct import BreadthFirst, DepthFirst
from conformance.adapters.reference import Reference
from conformance.case import Case, Crash, Graph, Kill, Task
from conformance.engine import RunRequest
from conformance.generators import SITUATIONS, cases, corpus
from conformance.observation import Fired, Observation, Observations
from conformance.programs import Count
from conformance.reports.charts import draw_number_histogram, draw_time_histogram, format_seconds
from conformance.reports.coverage import GROUPS
from conformance.reports.timeline import read_log
from conformance.reports.times import Samples, count_epochs_in_flight, draw_times, measure_recoveries

CASE = Case(
    Graph(("a",), (Task("t", ("a",), "b", Count()),)),
    {"a": ((1,), (2,), (3,))},
    (Crash("t", 2, 0), Kill("worker", 3)),
)


def shown(t, epochs):
    return Observation({"b": ((1,),) * epochs}, t)


def test_every_situation_is_in_one_group():
    assert Counter(name for names in GROUPS.values() for name in names) == Counter(list(SITUATIONS))


def test_a_recovery_lasts_until_one_more_epoch_is_shown():
    seen = Observations(
        "", (shown(0.5, 1), shown(1.5, 1), shown(2.0, 2), shown(4.0, 3)), fired=(Fired(0, 1, t=1.0), Fired(1, 3, t=2.5))
    )
    assert list(measure_recoveries(CASE, seen)) == [("crash", 1.0), ("kill of a worker", 1.5)]


@pytest.mark.parametrize("fired", [Fired(0, 1), Fired(9, 1, t=1.0), Fired(0, 9, t=1.0), Fired(0, 1, t=99.0)], ids=str)
def test_a_failure_without_time_or_later_epoch_is_no_recovery(fired):
    assert not list(measure_recoveries(CASE, Observations("", (shown(0.5, 1), shown(2.0, 2)), fired=(fired,))))


@given(cases())
def test_epochs_in_flight_are_between_one_and_all(case):
    (seen,) = Reference([]).run([RunRequest(case)])
    assert 1 <= count_epochs_in_flight(case, read_log(case, seen.log)) <= case.epochs


def test_breadth_first_execution_has_more_epochs_in_flight():
    case = corpus()["paper-observed-execution"]
    logs = [read_log(case, engine(RunRequest(case)).run().log) for engine in (BreadthFirst, DepthFirst)]
    assert [count_epochs_in_flight(case, log) for log in logs] == [3, 1]


def test_missing_times_and_logs_are_reported():
    samples = Samples()
    samples.add(CASE, Observations("", (shown(None, 3),)), ())
    found = draw_times("mine", samples)
    assert [histogram.quantity for histogram in found.histograms] == ["Epochs committed in a case"]
    assert "no times" in found.missing[0]
    assert "does not log" in found.missing[1]


def test_histograms_state_the_median_and_accept_extreme_values():
    assert draw_time_histogram("x", [0.0, 0.25, 5.0]).summary == "median 250 ms, 95% within 5.0 s"
    assert draw_time_histogram("x", [0.0]).samples == 1
    assert draw_number_histogram("x", [1, 1, 500]).summary == "median 1, at most 500"
    assert format_seconds(1234.5) == "1,234 s"
