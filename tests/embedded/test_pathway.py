"""Pathway, which promises at-least-once and keeps that."""

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


def test_without_failures_it_conforms(runs, without_failures):
    for seen, verdict in runs("pathway", without_failures):
        assert seen.end == "completed", seen.message
        assert isinstance(verdict, Conforms)


def test_an_orderly_restart_cannot_be_seen(runs):
    cases = [evolve(CASE, failures=failures) for failures in [(Restart(1), Restart(2)), (Restart(3),)]]
    for case, (seen, verdict) in zip(cases, runs("pathway", cases), strict=True):
        assert len(seen.fired) == len(case.failures)
        assert isinstance(verdict, Conforms)


def test_every_kind_of_failure_happens_and_what_is_seen_of_it_are_duplicates_at_most(runs):
    cases = [evolve(CASE, failures=failures) for failures in FAILURES]
    verdicts = []
    for case, (seen, verdict) in zip(cases, runs("pathway", cases), strict=True):
        assert seen.end == "completed", seen.message
        assert [fired.failure for fired in seen.fired] == list(range(len(case.failures)))
        verdicts.append(verdict)
        if isinstance(verdict, Violates):
            assert verdict.guarantee == "at-least-once"
            assert {finding.diagnosis for finding in verdict.findings} == {"duplicated"}
    assert any(isinstance(verdict, Violates) for verdict in verdicts)


def test_it_goes_on_from_what_is_final(runs):
    """Where epochs are given one by one; others, by their digest, are given all at once."""
    cases = [evolve(CASE, failures=(Crash("join", 3, event),)) for event in (0, 1, 2, BORDER)]
    committed = [len(seen.observations[seen.fired[0].before].streams["y"]) for seen, _ in runs("pathway", cases)]
    assert 2 in committed


def test_the_certificate_says_at_least_once_and_nothing_worse(certificate):
    code, certified = certificate("pathway", 4)
    assert code == 1
    assert certified["guarantee"] == "at-least-once"
    broken = {promise for promise, each in certified["guarantees"].items() if each["verdict"] == "violates"}
    assert broken == {"no duplicates"}
    assert certified["cases"]["not exercised"] == certified["cases"]["error"] == 0
    (found,) = certified["counterexamples"]
    assert found["after"]["failures"] >= 1
    assert found["examined"]["without_failures"] == "conforms"
