"""Which cases share a job, and which gates their tasks have."""

import pytest
from attrs import evolve
from hypothesis import given

from conformance.adapters.flink.messages import Gate
from conformance.adapters.flink.schedule import (
    CASES_PER_JOB,
    closed_gates,
    group_requests,
    independent_tasks,
    job_seconds,
    plays_ahead,
)
from conformance.adapters.stdio import Patience
from conformance.case import Case, Crash, Graph, Hold, Restart, Task
from conformance.engine import Capabilities, RunRequest
from conformance.generators import cases
from conformance.programs import Count

CHAIN = Graph(
    ("a", "b"),
    (
        Task("one", ("a",), "x", Count()),
        Task("two", ("x", "b"), "y", Count()),
        Task("apart", ("b",), "z", Count()),
    ),
)


def request(*failures, holds=(), epochs=3):
    return RunRequest(Case(CHAIN, {"a": ((1,),) * epochs, "b": ((2,),) * epochs}, failures, holds))


def test_cases_that_only_crash_share_few_jobs_of_equal_size():
    requests = [request(Crash("one", 1, 0)) for _ in range(2 * CASES_PER_JOB + 1)]
    sizes = [len(group.requests) for group in group_requests(requests)]
    assert (len(sizes), sum(sizes)) == (3, 2 * CASES_PER_JOB + 1)
    assert max(sizes) - min(sizes) <= 1


def test_cases_that_restart_after_the_same_epochs_share_a_job():
    requests = [request(Restart(1)), request(Crash("one", 1, 0), Restart(1)), request(Restart(2)), request()]
    found = {frozenset(map(requests.index, group.requests)) for group in group_requests(requests)}
    assert found == {frozenset({0, 1}), frozenset({2}), frozenset({3})}


def test_cases_of_equal_length_share_a_job_and_the_longest_come_first():
    requests = [request(epochs=1 + number % 3) for number in range(3 * CASES_PER_JOB)]
    found = [{each.case.epochs for each in group.requests} for group in group_requests(requests)]
    assert found == [{3}, {2}, {1}]


def test_a_case_that_holds_and_crashes_runs_alone():
    requests = [request(Crash("two", 2, 0), holds=(Hold("one", 1),)), request(), request(holds=(Hold("one", 1),))]
    assert {(len(group.requests), group.is_alone) for group in group_requests(requests)} == {(1, True), (2, False)}


@given(cases(capabilities=Capabilities(failures=["crash", "restart"])))
def test_every_case_runs_once_with_gates_at_its_holds(case):
    asked = RunRequest(case)
    assert [group.requests for group in group_requests([asked])] == [(asked,)]
    gates = closed_gates(asked).items()
    held = {(name, epoch) for name, closed in gates for gate, epoch in closed if gate is Gate.EPOCH_START}
    assert held == {(hold.task, hold.epoch) for hold in case.holds}


@given(cases(capabilities=Capabilities(failures=["crash"])))
def test_where_sources_play_ahead_a_task_is_late_in_every_epoch_but_the_last(case):
    late = {epoch for closed in closed_gates(RunRequest(case)).values() for _, epoch in closed}
    if plays_ahead(RunRequest(case)):
        assert late >= set(range(1, case.epochs))


@given(cases(capabilities=Capabilities(failures=["crash"])))
def test_gates_do_not_depend_on_events_and_failures(case):
    bare = evolve(case, failures=(), inputs={source: ((),) * len(epochs) for source, epochs in case.inputs.items()})
    assert closed_gates(RunRequest(bare)) == closed_gates(RunRequest(case))


def test_tasks_downstream_of_a_waiting_task_depend_on_it():
    assert independent_tasks(request().case, ["one"]) == ["apart"]
    assert independent_tasks(request().case, ["two"]) == ["one", "apart"]


@pytest.mark.parametrize("number", [1, 2, 13, 48, 120])
def test_a_stall_is_reported_before_the_suite_ends_the_engine(number):
    requests = [request(Crash("one", 1, 0)) for _ in range(number)]
    for group in group_requests(requests):
        members = group.requests
        assert members[0].seconds <= job_seconds(members, number) <= Patience().silence(members[0].seconds, number)
