"""Which cases share a query, without Spark."""

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from conformance.adapters.spark.batch_progress import windows
from conformance.adapters.spark.schedule import attempts, groups
from conformance.adapters.spark.setup import ONCE, RETRIED, set_up
from conformance.case import Crash, Kill, Restart
from conformance.engine import Capabilities, RunRequest
from conformance.generators import cases, corpus

CAN = Capabilities(failures=["crash", "restart", "kill:worker:processing", "kill:coordinator"], holds=False)
SETUPS = st.sampled_from([set_up([]), set_up(["one-attempt"]), set_up(["local-cluster"])])


@given(st.lists(cases(capabilities=CAN), min_size=1, max_size=8), SETUPS)
def test_every_case_is_in_one_query_and_shares_it_only_with_what_does_not_disturb_it(drawn, made):
    jobs = [RunRequest(case) for case in drawn]
    found = groups(jobs, made)
    assert sorted(id(job) for group in found for job in group.jobs) == sorted(map(id, jobs))
    for group in found:
        assert len({for_all(job.case.failures) for job in group.jobs}) == 1
        if len(group.jobs) > 1:
            assert not made.is_local or group.attempts != ONCE
            for job in group.jobs:
                by_a_task = [number for number in range(len(job.case.failures)) if number not in windows(job, 1)]
                killers = [f for f in map(job.case.failures.__getitem__, by_a_task) if isinstance(f, Kill)]
                assert all(f.target == "worker" and made.is_local for f in killers)
                assert made.is_local or not any(isinstance(f, Kill) and f.target == "worker" for f in job.case.failures)


def for_all(failures):
    """Those that every case of a query suffers."""
    return tuple(f for f in failures if isinstance(f, Restart) or (isinstance(f, Kill) and f.target == "coordinator"))


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


def test_there_is_a_recovery_to_be_killed_in_only_if_the_query_dies_or_its_driver():
    last = diamond().graph.in_order[-1].name
    recovery = Kill("coordinator", 1, "recovery")
    assert attempts(diamond(Crash(last, 1, 0), recovery), set_up([])) == ONCE
    assert attempts(diamond(Kill("coordinator", 1, "snapshot"), recovery), set_up([])) == RETRIED


def test_one_kill_of_the_driver_is_the_failure_of_all_who_ask_for_it_at_that_moment():
    commit, snapshot = Kill("coordinator", 1, "commit"), Kill("coordinator", 1, "snapshot")
    jobs = [
        RunRequest(diamond(*failures)) for failures in ([commit], [snapshot], [Crash("one", 1, 0), commit], [commit])
    ]
    found = groups(jobs, set_up([]))
    assert [(len(group.jobs), group.attempts) for group in found] == [(3, RETRIED), (1, None)]


def test_a_case_whose_own_task_kills_the_driver_is_alone():
    by_a_task = [RunRequest(diamond(Kill("coordinator", 1)), seed=seed) for seed in range(20)]
    by_a_task = [job for job in by_a_task if not windows(job, 1)]
    assert len(by_a_task) > 1
    assert all(len(group.jobs) == 1 for group in groups(by_a_task, set_up([])))


def test_a_query_that_is_stopped_when_all_tasks_are_done_needs_nothing_done_again():
    case = diamond()
    last = case.graph.in_order[-1].name
    assert attempts(diamond(Crash(last, 1, 0), Restart(1)), set_up([])) == RETRIED


def test_an_executor_is_nobodys_alone_and_a_python_worker_is():
    killed = RunRequest(diamond(Kill("worker", 1)))
    assert [group.is_violent for group in groups([killed], set_up([]))] == [False]
    assert [group.is_violent for group in groups([killed], set_up(["local-cluster"]))] == [True]
