"""What was seen of a case, as the judge is given it."""

from conformance.case import Case, Graph, Task
from conformance.codec import digest
from conformance.judge import Violates, judge
from conformance.observation import Observation, Observations
from conformance.programs import Sum

CHAIN = Case(Graph(("a",), (Task("t", ("a",), "x", Sum()),)), {"a": ((1, 2), (3, 4))})
RIGHT = {**CHAIN.inputs, "x": ((1, 3), (6, 10))}


def seen(case, *shown, **options):
    """Observations of a case, each given by its streams."""
    return Observations(digest(case), tuple(Observation(streams) for streams in shown), **options)


def diagnosis(case, *shown, **options):
    verdict = judge(case, seen(case, *shown, **options))
    assert isinstance(verdict, Violates)
    return verdict
