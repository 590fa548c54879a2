"""Bytewax, with its own sink and with a sink that only appends."""

import pytest
from attrs import evolve

from conformance.case import BORDER, Case, Crash, Graph, Kill, Restart, Task
from conformance.judge import Conforms, Violates
from conformance.programs import Count, Digest, Sum

pytestmark = pytest.mark.bytewax

TASKS = (
    Task("first", ("a",), "x", Digest()),
    Task("join", ("x", "b"), "y", Sum()),
    Task("last", ("y",), "z", Count()),
)
CASE = Case(Graph(("a", "b"), TASKS), {"a": ((1, 2), (3,), (4, 5)), "b": ((6,), (7, 8), ())})

FAILURES = [
    (Crash("join", 2, 1),),
    (Crash("last", 1, BORDER), Crash("last", 1, BORDER)),
    (Restart(1), Restart(2)),
    (Restart(3),),
    (Kill("worker", 1), Kill("worker", 2), Kill("worker", 3)),
    (Kill("worker", 2, "snapshot"),),
    (Crash("first", 2, 0), Kill("worker", 2, "recovery")),
    (Crash("first", 1, 0), Kill("worker", 1, "recovery"), Kill("worker", 1, "recovery")),
]


@pytest.mark.parametrize("engine", ["bytewax", "bytewax:append", "bytewax:two-workers"])
def test_without_failures_every_setting_conforms(runs, without_failures, engine):
    for observed, verdict in runs(engine, without_failures):
        assert observed.end == "completed", observed.message
        assert isinstance(verdict, Conforms)


@pytest.mark.parametrize("engine", ["bytewax", "bytewax:two-workers"])
def test_every_kind_of_failure_happens_and_is_hidden(runs, engine):
    cases = [evolve(CASE, failures=failures) for failures in FAILURES]
    for case, (observed, verdict) in zip(cases, runs(engine, cases), strict=True):
        assert observed.end == "completed", observed.message
        assert [fired.failure for fired in observed.fired] == list(range(len(case.failures)))
        assert all(fired.evidence for fired in observed.fired)
        assert isinstance(verdict, Conforms)


def test_state_is_restored_from_the_recovery_store(runs):
    ((observed, _),) = runs("bytewax", [evolve(CASE, failures=(Crash("join", 3, 0),))])
    committed = [len(each.streams["z"]) for each in observed.observations]
    assert committed[observed.fired[0].before] == 2


def test_an_appending_sink_duplicates_replayed_events(runs):
    ((observed, verdict),) = runs("bytewax:append", [evolve(CASE, failures=(Kill("worker", 2, "snapshot"),))])
    assert isinstance(verdict, Violates)
    assert verdict.guarantee == "at-least-once"
    assert {finding.diagnosis for finding in verdict.findings} == {"duplicated"}
    written = observed.observations[-1].streams["b"]
    assert written == ((6,), (7, 8, 7, 8), ())


def test_bytewax_with_its_file_sink_is_certified(certificate):
    code, certified = certificate("bytewax", 12)
    assert code == 0, certified["because"]
    assert certified["guarantee"] == "exactly-once"
    assert certified["cases"]["not exercised"] == certified["cases"]["error"] == 0
    assert certified["engine"]["settings"] == {"sink": "file", "workers": 1}


def test_with_an_appending_sink_bytewax_is_at_least_once(certificate):
    code, certified = certificate("bytewax:append", 12)
    assert code == 1
    assert certified["guarantee"] == "at-least-once"
    broken = {guarantee for guarantee, each in certified["guarantees"].items() if each["verdict"] == "violates"}
    assert broken == {"no duplicates"}
    (found,) = certified["counterexamples"]
    assert 1 <= found["after"]["failures"] <= found["before"]["failures"]
    assert found["examined"]["without_failures"] == "conforms"
