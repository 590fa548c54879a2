"""Keyed sums as branches."""

from random import Random

from hypothesis import given

from conformance.branches import MOST_KEYS, find, split_keyed_sums
from conformance.case import Case, Crash, Graph, Hold, Task
from conformance.generators import cases
from conformance.model.configuration import initial
from conformance.model.execution import RandomScheduler, execution
from conformance.model.snapshot import observed
from conformance.programs import Count, KeyedSum

KEYED = Case(
    Graph(("a", "b"), (Task("keyed", ("a", "b"), "sums", KeyedSum(2)), Task("all", ("sums", "a"), "n", Count()))),
    {"a": ((1, 2, 5), (4,)), "b": ((3, "text"), ())},
    (Crash("keyed", 2, 0), Crash("all", 1, "border")),
    (Hold("keyed", 1),),
)


def out(case):
    *_, (_, last) = execution(initial(case), RandomScheduler(Random(0)))
    return observed(last)


def test_a_keyed_sum_becomes_a_filter_and_a_sum_for_each_key():
    made = split_keyed_sums(KEYED)
    assert [task.name for task in made.graph.tasks] == ["keyed-of-0", "keyed-0", "keyed-of-1", "keyed-1", "all"]
    assert made.graph.tasks[-1].inputs == ("sums-0", "sums-1", "a")
    assert made.failures == (Crash("keyed-0", 2, 0), Crash("all", 1, "border"))
    assert made.holds == (Hold("keyed-1", 1),)


def test_every_branch_shows_the_sums_of_its_key():
    shown = out(split_keyed_sums(KEYED))
    assert shown["sums-0"][0][-1] in {2, "text"}
    assert [each for epoch in shown["sums-0"] for each in epoch if each != "text"] == [2, 6]
    assert max(each for epoch in shown["sums-1"] for each in epoch if each != "text") == 9


@given(cases())
def test_branches_made_by_split_are_found(case):
    keyed = [task for task in case.graph.tasks if isinstance(task.program, KeyedSum)]
    made = split_keyed_sums(case)
    assert not any(isinstance(task.program, KeyedSum) for task in made.graph.tasks)
    assert made.inputs == case.inputs
    assert len(list(find(made.graph))) >= min(1, len(keyed))
    if not keyed:
        assert made is case


def test_a_keyed_sum_of_too_many_keys_is_not_split():
    graph = Graph(("a",), (Task("keyed", ("a",), "sums", KeyedSum(MOST_KEYS + 1)),))
    case = Case(graph, {"a": ((1,),)})
    assert split_keyed_sums(case) is case


def test_filters_that_leave_a_remainder_out_are_no_keyed_sum():
    made = split_keyed_sums(KEYED)
    fewer = Graph(("a", "b"), made.graph.tasks[:2])
    assert not list(find(fewer))
    assert [branches.outputs for branches in find(made.graph)] == [("sums-0", "sums-1")]
