"""The real Spark."""

import pytest
from attrs import evolve

from conformance.case import Kill
from conformance.engine import Job
from conformance.judge import Budget, Conforms, judge
from generators import cases, corpus
from generators.collect import collect

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def spark():
    """A driver that is warm, and what it can do."""
    from adapters.spark import Spark  # noqa: PLC0415

    engine = Spark([])
    description = engine.start()
    yield engine, description
    engine.stop()


def judged(engine, given_cases):
    """What Spark let be seen of cases, judged; every failure has happened."""
    for case, seen in zip(given_cases, engine.run([Job(case, seconds=300) for case in given_cases]), strict=True):
        verdict = judge(case, seen, Budget(steps=150_000))
        assert seen.end == "completed"
        assert [fired.failure for fired in seen.fired] == list(range(len(case.failures))), case.name
        for fired in seen.fired:
            assert fired.before < len(seen.observations), "it is looked at after every failure"
        yield case, verdict


def supported(description, given_cases):
    return [case for case in given_cases if not description.capabilities.unsupported(case)]


def test_the_corpus_conforms_and_all_its_failures_strike(spark):
    engine, description = spark
    found = list(judged(engine, supported(description, corpus().values())))
    assert len(found) >= 20
    for case, verdict in found:
        assert isinstance(verdict, Conforms), (case.name, verdict)


def test_generated_cases_conform(spark):
    engine, description = spark
    crashing = evolve(description.capabilities, failures=["crash"])
    drawn = collect(cases(capabilities=crashing), number=25, seed=3)
    assert sum(bool(case.failures) for case in drawn) >= 10
    for case, verdict in judged(engine, drawn):
        assert isinstance(verdict, Conforms), (case, verdict)


def test_a_driver_that_was_killed_goes_on_from_its_checkpoint(spark):
    engine, description = spark
    paper = corpus()["paper-observed-execution"]
    for target in ("coordinator", "worker"):
        case = evolve(paper, failures=(Kill(target, 2),), holds=())
        assert not description.capabilities.unsupported(case)
        ((_, verdict),) = judged(engine, [case])
        assert isinstance(verdict, Conforms), verdict
