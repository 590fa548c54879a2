"""Which cases share a query, without Spark."""

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from adapters.spark.schedule import attempts, groups
from adapters.spark.setup import ONCE, RETRIED, set_up
from conformance.case import Crash, Kill, Restart
from conformance.engine import Capabilities, Job
from generators import cases, corpus

CAN = Capabilities(failures=["crash", "restart", "kill:worker:processing", "kill:coordinator"], holds=False)
SETUPS = st.sampled_from([set_up([]), set_up(["one-attempt"]), set_up(["local-cluster"])])


@given(st.lists(cases(capabilities=CAN), min_size=1, max_size=8), SETUPS)
def test_every_case_is_in_one_query_and_shares_it_only_with_what_does_not_disturb_it(drawn, made):
    jobs = [Job(case) for case in drawn]
    found = groups(jobs, made)
    assert sorted(id(job) for group in found for job in group.jobs) == sorted(map(id, jobs))
    for group in found:
        restarts = {tuple(f.epoch for f in job.case.failures if isinstance(f, Restart)) for job in group.jobs}
        assert len(restarts) == 1
        if len(group.jobs) > 1:
            assert not group.is_violent
            for job in group.jobs:
                assert not any(isinstance(f, Kill) and f.target == "coordinator" for f in job.case.failures)
                assert group.attempts == RETRIED or all(isinstance(f, Restart) for f in job.case.failures)


def diamond(*failures):
    """`one` and `other` stand side by side above `both`."""
    case = corpus()["unequal-diamond"]
    return evolve(case, failures=failures, holds=())


def test_a_crash_further_down_or_at_the_same_task_can_follow_a_task_that_is_done_again():
    case = diamond()
    first, *_, last = [task.name for task in case.graph.in_order]
    assert attempts(diamond(Crash(first, 1, 0), Crash(last, 1, 0)), set_up([])) == RETRIED
    assert attempts(diamond(Crash(first, 1, 0), Crash(first, 1, 0)), set_up([])) == RETRIED


def test_a_crash_further_up_can_only_follow_if_the_whole_epoch_is_done_again():
    case = diamond()
    first, *_, last = [task.name for task in case.graph.in_order]
    assert attempts(diamond(Crash(last, 1, 0), Crash(first, 1, 0)), set_up([])) == ONCE
    assert attempts(diamond(Crash(last, 1, 0), Kill("coordinator", 1, "recovery")), set_up([])) == ONCE


def test_a_query_that_is_stopped_when_all_tasks_are_done_needs_nothing_done_again():
    case = diamond()
    last = case.graph.in_order[-1].name
    assert attempts(diamond(Crash(last, 1, 0), Restart(1)), set_up([])) == RETRIED


def test_an_executor_is_nobodys_alone_and_a_python_worker_is():
    killed = Job(diamond(Kill("worker", 1)))
    assert [group.is_violent for group in groups([killed], set_up([]))] == [False]
    assert [group.is_violent for group in groups([killed], set_up(["local-cluster"]))] == [True]
