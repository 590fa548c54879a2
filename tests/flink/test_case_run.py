"""Cases that run: which operators are to be restored, and when sources may play ahead."""

import pytest
from attrs import evolve

from conformance.adapters.flink.case_run import CaseRun, CaseRuns
from conformance.adapters.flink.control import ControlChannel
from conformance.adapters.flink.deployment import deploy
from conformance.adapters.flink.progress import Progress
from conformance.adapters.flink.setup import FlinkSetup
from conformance.branches import split_keyed_sums
from conformance.case import Crash, Restart
from conformance.engine import RunRequest
from conformance.generators import corpus

CASE = evolve(corpus()["paper-observed-execution"], failures=(), holds=())
FAILED_AT = 100.0


def case_run(tmp_path, number=0, *failures):
    channel, request = ControlChannel(str(tmp_path), number), RunRequest(evolve(CASE, failures=failures))
    return CaseRun(request, deploy(channel, request, {}, parallel=False), Progress(channel), plays_ahead=True)


@pytest.fixture
def failed(tmp_path):
    """A case whose task `first` has failed."""
    run = case_run(tmp_path)
    run.progress.opened_at = dict.fromkeys(("first", "second", "third"), FAILED_AT - 1)
    run.record_failure(FAILED_AT, ["first"])
    return run


@pytest.fixture
def set_time(monkeypatch):
    return lambda now: monkeypatch.setattr("conformance.adapters.flink.case_run.time", lambda: now)


def test_an_operator_that_opened_before_the_failure_is_to_be_restored(failed, set_time):
    set_time(FAILED_AT)
    assert failed.is_to_be_restored("third", FAILED_AT - 0.5)


def test_an_operator_that_opened_late_in_a_failed_attempt_is_restored(failed, set_time):
    failed.progress.opened_at["third"] = FAILED_AT + 0.01
    set_time(FAILED_AT + 0.1)
    assert not failed.is_to_be_restored("third", FAILED_AT + 0.02), "it may belong to the next attempt"
    set_time(FAILED_AT + 0.5)
    assert failed.is_to_be_restored("third", FAILED_AT + 0.02)


def test_an_operator_of_the_next_attempt_is_not_to_be_restored(failed, set_time):
    failed.progress.opened_at |= {"first": FAILED_AT + 0.2, "third": FAILED_AT + 0.1}
    set_time(FAILED_AT + 5)
    assert not failed.is_to_be_restored("third", FAILED_AT + 0.3)


def test_a_case_alone_plays_ahead_unless_a_restart_is_due(tmp_path):
    for failures, allowed in [((), True), ((Crash("first", 1, 0),), True), ((Restart(1),), False)]:
        run = case_run(tmp_path, 0, *failures)
        assert CaseRuns((run,), FlinkSetup()).may_play_ahead(run, 1) == allowed
        assert not CaseRuns((run,), FlinkSetup(epochs="own")).may_play_ahead(run, 1)


def test_a_case_in_a_shared_job_plays_ahead_only_if_no_crash_is_due(tmp_path):
    calm, crashing = case_run(tmp_path, 0), case_run(tmp_path, 1, Crash("first", 2, 0))
    cases = CaseRuns((calm, crashing), FlinkSetup())
    assert cases.may_play_ahead(calm, 1)
    assert not cases.may_play_ahead(crashing, 1), "it would crash in the next epoch"
    assert not cases.may_play_ahead(calm, 2)


def test_branches_that_may_share_a_subtask_wait_together(tmp_path):
    request = RunRequest(split_keyed_sums(corpus()["keyed-state-partly-restored"]))
    channel = ControlChannel(str(tmp_path), 0)
    parallel, single = (deploy(channel, request, {}, parallel=several) for several in (True, False))
    assert parallel.with_branches(["keys-2"]) == {"keys-0", "keys-1", "keys-2"}
    assert single.with_branches(["keys-2"]) == {"keys-2"}
