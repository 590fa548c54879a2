"""Observations and verdicts for the tests of the judge."""

from conformance.case import Case, Graph, Task
from conformance.codec import digest
from conformance.judge import Violates, judge
from conformance.observation import Observation, Observations
from conformance.programs import Sum

CHAIN = Case(Graph(("a",), (Task("t", ("a",), "x", Sum()),)), {"a": ((1, 2), (3, 4))})
RIGHT = {**CHAIN.inputs, "x": ((1, 3), (6, 10))}


def observations_of(case, *shown, **options):
    """Build observations of a case, each given by its streams."""
    return Observations(digest(case), tuple(Observation(streams) for streams in shown), **options)


def violation(case, *shown, **options):
    """Judge observations that are expected to violate."""
    verdict = judge(case, observations_of(case, *shown, **options))
    assert isinstance(verdict, Violates)
    return verdict
