"""The model as an engine."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.adapters.reference import Reference
from conformance.codec import digest
from conformance.engine import RunRequest
from conformance.errors import UnknownEngine
from conformance.generators import cases, corpus
from conformance.judge import Budget, Conforms, Inconclusive, judge


@settings(max_examples=50)
@given(cases(), st.integers(0, 99), st.booleans())
def test_the_reference_conforms_and_all_its_failures_fire(case, seed, sinks):
    streams = frozenset(case.graph.sinks if sinks else case.graph.streams)
    (seen,) = Reference([]).run([RunRequest(case, streams, seed=seed)])
    seen.check_fit(case, digest(case))
    assert seen.observed == streams
    # The judge searches for the content of hidden streams. A search that is cut short is no accusation.
    assert isinstance(judge(case, seen, Budget(steps=20_000)), Conforms | Inconclusive if sinks else Conforms)
    assert [fired.failure for fired in seen.fired] == list(range(len(case.failures)))
    for fired in seen.fired:
        assert fired.before < len(seen.observations), "it is looked at after every failure"


def test_a_batch_is_answered_in_its_order():
    requests = [RunRequest(case) for case in corpus().values()]
    assert [seen.case_digest for seen in Reference([]).run(requests)] == [digest(request.case) for request in requests]


def test_the_reference_has_no_settings():
    with pytest.raises(UnknownEngine, match="no setting 'fast'"):
        Reference(["fast"])
