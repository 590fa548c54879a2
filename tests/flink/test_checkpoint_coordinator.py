"""States of the checkpoint coordinator, and the gates of tasks, against a Flink that is played."""

import logging

import pytest
from attrs import define, evolve, field

from conformance.adapters.flink.case_run import CaseRun, CaseRuns
from conformance.adapters.flink.committed import CommittedOutput
from conformance.adapters.flink.control import ControlChannel
from conformance.adapters.flink.deployment import deploy
from conformance.adapters.flink.messages import (
    AttemptOpened,
    BorderPassed,
    Gate,
    GateReached,
    PlayAhead,
    PlayEpoch,
    ReleaseGate,
    RollBack,
    source_name,
)
from conformance.adapters.flink.progress import Progress
from conformance.adapters.flink.setup import FlinkSetup
from conformance.engine import RunRequest
from conformance.generators import corpus

pytestmark = pytest.mark.flink

CASE = evolve(corpus()["paper-observed-execution"], failures=(), holds=())


@define
class PlayedCheckpoints:
    """Checkpoints as a test has them; `answer` is what Flink says of the one that was requested."""

    committed: CommittedOutput
    answer: dict | None = None
    done: list = field(factory=list)
    requested: int = 0
    job: str = "job"

    def request(self):
        self.requested += 1
        return str(self.requested)

    def outcome(self, _request):
        return self.answer

    def under_way(self):
        return self.requested

    def shares(self, _number):
        from conformance.adapters.flink.checkpoints import CheckpointShare  # noqa: PLC0415 - it needs urllib3

        return {f"{chain} -> more": CheckpointShare(is_done=True, in_flight=0) for chain in self.done}


class PlayedJob:
    """One case, whose operators report what a test lets them report."""

    def __init__(self, tmp_path, monkeypatch):
        from conformance.adapters.flink import checkpoint_coordinator  # noqa: PLC0415 - it needs PyFlink
        from conformance.adapters.flink.faults import NoFaults  # noqa: PLC0415
        from conformance.adapters.flink.gates import GateController  # noqa: PLC0415

        monkeypatch.setattr(checkpoint_coordinator, "POLL_SECONDS", -1)
        monkeypatch.setattr(checkpoint_coordinator, "RETRY_SECONDS", -1)
        self.channel, request = ControlChannel(str(tmp_path), 0), RunRequest(CASE)
        self.channel.prepare()
        deployment = deploy(self.channel, request, {}, parallel=False)
        self.run = CaseRun(request, deployment, Progress(self.channel), plays_ahead=True)
        self.cases = CaseRuns((self.run,), FlinkSetup())
        self.checkpoints = PlayedCheckpoints(CommittedOutput(tmp_path, ["job"]))
        self.coordinator = checkpoint_coordinator.CheckpointCoordinator(self.cases, self.checkpoints, NoFaults())
        self.gates = GateController(self.cases, NoFaults())

    def play(self, epoch, attempt="a"):
        """Let all sources open in an attempt, and pass a border."""
        for source in CASE.graph.sources:
            if self.run.progress.attempts.get(source_name(source)) != attempt:
                self.channel.report(AttemptOpened(source_name(source), attempt))
            self.channel.report(BorderPassed(source_name(source), attempt, epoch))

    def step(self):
        self.cases.update()
        closed = self.coordinator.step()
        return closed, self.coordinator.state.name


@pytest.fixture
def job(tmp_path, monkeypatch):
    return PlayedJob(tmp_path, monkeypatch)


def test_a_checkpoint_is_requested_when_all_sources_have_played(job):
    assert job.step() == (False, "WAITING")
    job.play(0)
    assert job.step() == (False, "WAITING")
    job.play(1)
    assert job.step() == (False, "REQUESTED")
    assert job.checkpoints.requested == 1


def test_a_complete_checkpoint_closes_its_epoch(job):
    job.play(1)
    job.step()
    job.checkpoints.answer = {"checkpointId": 3}
    assert job.step() == (True, "WAITING")
    assert job.coordinator.closed == [(0, 3)]
    job.coordinator.play_next_epoch()
    assert job.channel.is_signalled(PlayEpoch(2))


def test_a_checkpoint_is_abandoned_if_a_source_was_restored_meanwhile(job):
    job.play(1)
    job.step()
    job.play(0, attempt="b")
    job.checkpoints.answer = {"checkpointId": 3}
    assert job.step() == (False, "WAITING")
    assert job.coordinator.closed == []


def test_sources_play_ahead_once_the_checkpoint_has_passed_them(job):
    job.play(1)
    job.step()
    assert job.step() == (False, "REQUESTED")
    assert not job.channel.is_signalled(PlayAhead("a", 2))
    job.checkpoints.done = [f"0/{source_name(source)}" for source in CASE.graph.sources]
    assert job.step() == (False, "PLAYING_AHEAD")
    assert job.channel.is_signalled(PlayAhead("a", 2))


def test_sources_that_played_ahead_of_a_failed_checkpoint_are_rolled_back(job):
    job.play(1)
    job.step()
    job.checkpoints.done = [f"0/{source_name(source)}" for source in CASE.graph.sources]
    job.step()
    job.checkpoints.answer = {"failureCause": "it was declined"}
    assert job.step() == (False, "ROLLING_BACK")
    assert job.channel.is_signalled(RollBack("a"))
    assert job.run.failed_at > 0
    assert job.step() == (False, "ROLLING_BACK")
    job.play(1, attempt="b")
    assert job.step() == (False, "REQUESTED")
    assert job.checkpoints.requested == 2


def test_the_reason_of_abandoned_checkpoints_is_logged_once(job, caplog):
    caplog.set_level(logging.INFO, "conformance.adapters.flink")
    job.play(1)
    job.checkpoints.answer = {
        "failureCause": {"class": "E", "stack-trace": "a.AException: b.Error: not all run\n\tat F.g(F.java)"}
    }
    for _ in range(3):
        assert job.step() == (False, "REQUESTED")
        assert job.step() == (False, "WAITING")
    job.step()
    job.checkpoints.answer = {"checkpointId": 3}
    assert job.step() == (True, "WAITING")
    assert caplog.messages == [
        "job job: epoch 1: abandoned a checkpoint: not all run",
        "job job: epoch 1: closed by checkpoint 3, 3 abandoned before it",
    ]


def test_there_is_no_way_between_states_that_are_not_connected(job):
    from conformance.adapters.flink.checkpoint_coordinator import CheckpointState  # noqa: PLC0415

    with pytest.raises(AssertionError, match="from WAITING there is no way to ROLLING_BACK"):
        job.coordinator._enter(CheckpointState.ROLLING_BACK)  # noqa: SLF001


def test_a_task_waits_at_its_border_until_the_next_epoch_is_played(job):
    waiting, *others = sorted(task.name for task in CASE.graph.tasks)
    job.channel.report(AttemptOpened(waiting, "t"))
    job.channel.report(GateReached(waiting, "t", Gate.BORDER, 1))
    job.play(1)
    job.cases.update()
    job.gates.step(0)
    assert not job.channel.is_signalled(ReleaseGate("t", Gate.BORDER, 1))
    job.play(2)
    for name in others:
        job.channel.report(AttemptOpened(name, "o"))
        job.channel.report(BorderPassed(name, "o", 2))
    job.cases.update()
    job.run.progress.last_report -= 1
    for key, value in job.run.progress.waiting.items():
        job.run.progress.waiting[key] = evolve(value, since=value.since - 1)
    job.gates.step(0)
    assert job.channel.is_signalled(ReleaseGate("t", Gate.BORDER, 1))
    assert job.run.overlapped == {1}


def test_a_task_of_a_failed_attempt_is_released(job):
    job.channel.report(AttemptOpened("first", "t"))
    job.channel.report(GateReached("first", "t", Gate.EPOCH_START, 1))
    job.cases.update()
    job.run.record_failure(job.run.progress.opened_at["first"] + 1, ["second"])
    job.gates.step(0)
    assert job.channel.is_signalled(ReleaseGate("t", Gate.EPOCH_START, 1))
    assert job.run.overlapped == set()
