"""Pathway, which guarantees at-least-once."""

import pytest
from attrs import evolve

from conformance.case import BORDER, Case, Crash, Graph, Kill, Restart, Task
from conformance.judge import Conforms, Violates
from conformance.programs import Count, Digest, Sum

pytestmark = pytest.mark.pathway

TASKS = (
    Task("first", ("a",), "x", Digest()),
    Task("join", ("x", "b"), "y", Sum()),
    Task("other", ("b",), "z", Count()),
)
CASE = Case(Graph(("a", "b"), TASKS), {"a": ((1, 2), (3,), (4, 5)), "b": ((6,), (7, 8), ())})

FAILURES = [
    (Crash("join", 2, 1),),
    (Crash("join", 1, BORDER), Crash("join", 1, BORDER)),
    (Kill("worker", 1), Kill("worker", 3)),
    (Kill("worker", 2, "snapshot"),),
    (Crash("first", 2, 0), Kill("worker", 2, "recovery")),
    (Crash("first", 1, 0), Kill("worker", 1, "recovery")),
]


def test_pathway_without_failures_conforms(runs, without_failures):
    for observed, verdict in runs("pathway", without_failures):
        assert observed.end == "completed", observed.message
        assert isinstance(verdict, Conforms)


def test_an_orderly_restart_is_hidden(runs):
    cases = [evolve(CASE, failures=failures) for failures in [(Restart(1), Restart(2)), (Restart(3),)]]
    for case, (observed, verdict) in zip(cases, runs("pathway", cases), strict=True):
        assert len(observed.fired) == len(case.failures)
        assert isinstance(verdict, Conforms)


def test_every_kind_of_failure_happens_and_causes_only_duplicates(runs):
    cases = [evolve(CASE, failures=failures) for failures in FAILURES]
    verdicts = []
    for case, (observed, verdict) in zip(cases, runs("pathway", cases), strict=True):
        assert observed.end == "completed", observed.message
        assert [fired.failure for fired in observed.fired] == list(range(len(case.failures)))
        verdicts.append(verdict)
        if isinstance(verdict, Violates):
            assert verdict.guarantee == "at-least-once"
            assert {finding.diagnosis for finding in verdict.findings} == {"duplicated"}
    assert any(isinstance(verdict, Violates) for verdict in verdicts)


def test_pathway_resumes_after_the_final_epochs(runs):
    """Some cases get their epochs one by one; others, by their digest, get all at once."""
    cases = [evolve(CASE, failures=(Crash("join", 3, event),)) for event in (0, 1, 2, BORDER)]
    committed = [
        len(observed.observations[observed.fired[0].before].streams["y"]) for observed, _ in runs("pathway", cases)
    ]
    assert 2 in committed


def test_pathway_is_certified_as_at_least_once(certificate):
    code, certified = certificate("pathway", 4)
    assert code == 1
    assert certified["guarantee"] == "at-least-once"
    broken = {guarantee for guarantee, each in certified["guarantees"].items() if each["verdict"] == "violates"}
    assert broken == {"no duplicates"}
    assert certified["cases"]["not exercised"] == certified["cases"]["error"] == 0
    (found,) = certified["counterexamples"]
    assert found["after"]["failures"] >= 1
    assert found["examined"]["without_failures"] == "conforms"
