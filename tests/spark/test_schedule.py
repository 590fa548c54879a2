"""The groups of cases that share a query, without Spark."""

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from conformance.adapters.spark.batch_progress import external_kills
from conformance.adapters.spark.schedule import group_requests, task_attempts
from conformance.adapters.spark.setup import ONCE, RETRIED, parse_settings
from conformance.case import Crash, Kill, Restart
from conformance.engine import Capabilities, RunRequest
from conformance.generators import cases, corpus

CAN = Capabilities(failures=["crash", "restart", "kill:worker:processing", "kill:coordinator"], holds=False)
SETUPS = st.sampled_from([["local"], ["local", "one-attempt"], ["local-cluster"]]).map(parse_settings)


@given(st.lists(cases(capabilities=CAN), min_size=1, max_size=8), SETUPS)
def test_cases_share_a_query_only_if_they_do_not_disturb_each_other(drawn, setup):
    requests = [RunRequest(case) for case in drawn]
    found = group_requests(requests, setup)
    assert sorted(id(request) for group in found for request in group.requests) == sorted(map(id, requests))
    for group in found:
        assert len({shared_failures(request.case.failures) for request in group.requests}) == 1
        if len(group.requests) > 1:
            assert not setup.is_local or group.attempts != ONCE
            for request in group.requests:
                by_a_task = [
                    number for number in range(len(request.case.failures)) if number not in external_kills(request, 1)
                ]
                killers = [f for f in map(request.case.failures.__getitem__, by_a_task) if isinstance(f, Kill)]
                assert all(f.target == "worker" and setup.is_local for f in killers)
                assert setup.is_local or not any(
                    isinstance(f, Kill) and f.target == "worker" for f in request.case.failures
                )


def shared_failures(failures):
    """Return the failures that affect every case of a query."""
    return tuple(f for f in failures if isinstance(f, Restart) or (isinstance(f, Kill) and f.target == "coordinator"))


def diamond(*failures):
    """The corpus's diamond: `one` and `other` are parallel, and `both` reads their output."""
    case = corpus()["unequal-diamond"]
    return evolve(case, failures=failures, holds=())


def test_a_downstream_or_repeated_crash_can_follow_a_retried_task():
    case = diamond()
    first, *_, last = [task.name for task in case.graph.in_order]
    assert task_attempts(diamond(Crash(first, 1, 0), Crash(last, 1, 0)), parse_settings(["local"])) == RETRIED
    assert task_attempts(diamond(Crash(first, 1, 0), Crash(first, 1, 0)), parse_settings(["local"])) == RETRIED


def test_an_upstream_crash_needs_the_whole_epoch_to_be_repeated():
    case = diamond()
    first, *_, last = [task.name for task in case.graph.in_order]
    assert task_attempts(diamond(Crash(last, 1, 0), Crash(first, 1, 0)), parse_settings(["local"])) == ONCE


def test_a_kill_in_recovery_needs_the_query_or_its_driver_to_end():
    last = diamond().graph.in_order[-1].name
    recovery = Kill("coordinator", 1, "recovery")
    assert task_attempts(diamond(Crash(last, 1, 0), recovery), parse_settings(["local"])) == ONCE
    assert task_attempts(diamond(Kill("coordinator", 1, "snapshot"), recovery), parse_settings(["local"])) == RETRIED


def test_cases_with_the_same_driver_kill_share_a_query():
    commit, snapshot = Kill("coordinator", 1, "commit"), Kill("coordinator", 1, "snapshot")
    requests = [
        RunRequest(diamond(*failures)) for failures in ([commit], [snapshot], [Crash("one", 1, 0), commit], [commit])
    ]
    found = group_requests(requests, parse_settings(["local"]))
    assert [(len(group.requests), group.attempts) for group in found] == [(3, RETRIED), (1, None)]


def test_a_case_whose_task_kills_the_driver_shares_no_query():
    by_a_task = [RunRequest(diamond(Kill("coordinator", 1)), seed=seed) for seed in range(20)]
    by_a_task = [request for request in by_a_task if not external_kills(request, 1)]
    assert len(by_a_task) > 1
    assert all(len(group.requests) == 1 for group in group_requests(by_a_task, parse_settings(["local"])))


def test_a_restart_can_follow_a_retried_task():
    case = diamond()
    last = case.graph.in_order[-1].name
    assert task_attempts(diamond(Crash(last, 1, 0), Restart(1)), parse_settings(["local"])) == RETRIED


def test_a_worker_kill_kills_a_jvm_only_on_a_cluster():
    killed = RunRequest(diamond(Kill("worker", 1)))
    assert [group.kills_jvm for group in group_requests([killed], parse_settings(["local"]))] == [False]
    assert [group.kills_jvm for group in group_requests([killed], parse_settings(["local-cluster"]))] == [True]
