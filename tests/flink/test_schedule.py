"""Which cases share a job, and where their tasks are held back."""

from attrs import evolve
from hypothesis import given

from conformance.adapters.flink.schedule import TOGETHER, gets_ahead, groups, independent, waits
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


def job(*failures, holds=(), epochs=3):
    return RunRequest(Case(CHAIN, {"a": ((1,),) * epochs, "b": ((2,),) * epochs}, failures, holds))


def test_cases_that_only_crash_share_jobs_as_few_as_will_do_and_each_of_them_as_large_as_the_others():
    given_jobs = [job(Crash("one", 1, 0)) for _ in range(2 * TOGETHER + 1)]
    sizes = [len(group.jobs) for group in groups(given_jobs)]
    assert (len(sizes), sum(sizes)) == (3, 2 * TOGETHER + 1)
    assert max(sizes) - min(sizes) <= 1


def test_those_that_are_restarted_share_one_with_others_that_are_so_after_the_same_epochs():
    given_jobs = [job(Restart(1)), job(Crash("one", 1, 0), Restart(1)), job(Restart(2)), job()]
    found = {frozenset(map(given_jobs.index, group.jobs)) for group in groups(given_jobs)}
    assert found == {frozenset({0, 1}), frozenset({2}), frozenset({3})}


def test_cases_of_as_many_epochs_share_a_job_and_the_longest_come_first():
    given_jobs = [job(epochs=1 + number % 3) for number in range(3 * TOGETHER)]
    found = [{each.case.epochs for each in group.jobs} for group in groups(given_jobs)]
    assert found == [{3}, {2}, {1}]


def test_a_case_that_holds_and_crashes_is_alone_as_its_sources_are_ahead_when_it_does():
    given_jobs = [job(Crash("two", 2, 0), holds=(Hold("one", 1),)), job(), job(holds=(Hold("one", 1),))]
    assert {(len(group.jobs), group.is_alone) for group in groups(given_jobs)} == {(1, True), (2, False)}


@given(cases(capabilities=Capabilities(failures=["crash", "restart"])))
def test_every_case_is_run_once_and_held_where_it_says(case):
    asked = RunRequest(case)
    assert [each for group in groups([asked]) for each in group.jobs] == [asked]
    held = {(name, epoch) for name, at in waits(asked).items() for epoch in at.begins}
    assert held == {(hold.task, hold.epoch) for hold in case.holds}


@given(cases(capabilities=Capabilities(failures=["crash"])))
def test_where_sources_get_ahead_somebody_is_late_in_every_epoch_but_the_last(case):
    late = {epoch for at in waits(RunRequest(case)).values() for epoch in at.begins | at.borders}
    if gets_ahead(RunRequest(case)):
        assert late >= set(range(1, case.epochs))


@given(cases(capabilities=Capabilities(failures=["crash"])))
def test_who_is_late_stays_so_when_events_and_failures_are_taken_away(case):
    bare = evolve(case, failures=(), inputs={source: ((),) * len(epochs) for source, epochs in case.inputs.items()})
    assert waits(RunRequest(bare)) == waits(RunRequest(case))


def test_what_stands_below_a_task_that_is_held_depends_on_it():
    assert independent(job().case, ["one"]) == ["apart"]
    assert independent(job().case, ["two"]) == ["one", "apart"]
