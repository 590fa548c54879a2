"""The paper's running example: the incremental average, and the failure of its rationale figure."""

from pathlib import Path

from conformance.codec import read_case
from conformance.model.configuration import RECOVER, Rule, Step, initial
from conformance.model.construction import explain
from conformance.model.explore import explore
from conformance.model.snapshot import gce, observed
from conformance.model.trace import configurations

CASE = read_case(Path(__file__).parents[2] / "examples" / "incremental-average.json")

INT = Step(Rule.EVENT, "average", "ints")
RESET = Step(Rule.EVENT, "average", "resets")
BORDERS = Step(Rule.BORDER, "average")
FAIL = Step(Rule.FAIL, "average")

TOP = (INT, BORDERS, INT, FAIL, RECOVER, RESET, INT, INT, BORDERS)
BOTTOM = (INT, BORDERS, RESET, INT, INT, BORDERS)


def averages(trace):
    """The average that the task holds in each configuration; None where it has failed."""
    for c in configurations(initial(CASE), trace):
        volatile = c.states["average"][1]
        yield None if volatile is None else volatile[1][0] // max(1, volatile[1][1])


def test_the_execution_with_a_failure_goes_through_the_figures_states():
    assert list(averages(TOP)) == [0, 1, 1, 2, None, 1, 0, 3, 4, 4]


def test_the_failure_free_execution_goes_through_the_figures_states():
    assert list(averages(BOTTOM)) == [0, 1, 1, 0, 3, 4, 4]


def test_the_construction_finds_the_figures_explanation():
    explained = explain(initial(CASE), TOP)
    assert explained.trace == BOTTOM
    assert explained.mapping == (0, 0, 2, 2, 2, 2, 2, 2, 2, 6)


def test_the_average_of_two_is_never_observed():
    shown = [observed(c)["averages"] for c in configurations(initial(CASE), TOP)]
    assert shown == [()] * 2 + [((1,),)] * 7 + [((1,), (3, 4))]


def test_no_placement_of_two_failures_can_be_seen():
    found = explore(CASE, 2)
    assert found.transparent
    assert found.live
    assert {dict(out)["averages"][1] for out in found.ends} == {(2, 3), (2, 5), (3, 4)}
    assert all(gce(c) == 2 for c in [list(configurations(initial(CASE), TOP))[-1]])
