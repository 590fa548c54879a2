"""The control channel between operators and driver, and the progress that the driver reads off it."""

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conformance.adapters.flink.control import ControlChannel
from conformance.adapters.flink.messages import (
    AttemptOpened,
    BorderPassed,
    DelayRestore,
    Gate,
    GateReached,
    PlayEpoch,
    ReleaseGate,
)
from conformance.adapters.flink.progress import Progress


def open_channel(tmp_path, case=0):
    channel = ControlChannel(str(tmp_path), case)
    channel.prepare()
    return channel


@pytest.fixture
def channel(tmp_path):
    return open_channel(tmp_path)


@pytest.fixture
def progress(channel):
    return Progress(channel)


def test_a_new_attempt_of_an_operator_starts_without_progress(channel, progress):
    channel.report(AttemptOpened("t", "first"))
    channel.report(BorderPassed("t", "first", 2))
    progress.update()
    assert progress.passed == {"t": 2}
    channel.report(GateReached("t", "first", Gate.EPOCH_START, 3))
    channel.report(AttemptOpened("t", "second"))
    channel.report(BorderPassed("t", "first", 3))
    progress.update()
    assert progress.passed == {}
    assert progress.waiting == {}
    assert progress.attempts == {"t": "second"}


def test_a_line_is_read_when_it_is_complete(channel, tmp_path):
    channel.report(AttemptOpened("t", "a"))
    reports, offset = channel.reports(0)
    with (tmp_path / "control" / "0" / "status").open("a") as file:
        file.write("0.5 border-passed t")
    assert channel.reports(offset) == ([], offset)
    with (tmp_path / "control" / "0" / "status").open("a") as file:
        file.write(" a 1\n")
    reports += channel.reports(offset)[0]
    assert [report.message for report in reports] == [AttemptOpened("t", "a"), BorderPassed("t", "a", 1)]


def test_commands_are_signalled_and_revoked_for_one_case(channel, tmp_path):
    other = open_channel(tmp_path, case=1)
    assert not channel.is_signalled(PlayEpoch(1))
    channel.signal(PlayEpoch(1))
    assert channel.is_signalled(PlayEpoch(1))
    assert not channel.is_signalled(PlayEpoch(2))
    assert not other.is_signalled(PlayEpoch(1))
    channel.revoke(PlayEpoch(1))
    channel.revoke(PlayEpoch(1))
    assert not channel.is_signalled(PlayEpoch(1))


def test_commands_are_logged_when_they_are_given_and_taken_back(channel, caplog):
    caplog.set_level(logging.INFO)
    channel.signal(PlayEpoch(1))
    channel.revoke(PlayEpoch(1))
    channel.revoke(PlayEpoch(1))
    folder = Path(channel.folder).name
    assert caplog.messages == [f"folder {folder}, case 0: {did} play-epoch.1" for did in ("signalled", "revoked")]


def test_a_gate_is_released_for_the_attempt_that_waits(channel, progress):
    channel.report(AttemptOpened("t", "a"))
    channel.report(GateReached("t", "a", Gate.BORDER, 1))
    progress.update()
    progress.release_gate("t", Gate.BORDER)
    assert channel.is_signalled(ReleaseGate("a", Gate.BORDER, 1))
    assert progress.waiting == {}


def test_evidence_of_a_failure_is_recorded_once(channel):
    assert not channel.evidence.has(0)
    with ThreadPoolExecutor(8) as threads:
        recorded = list(threads.map(lambda number: channel.evidence.record(0, f"try {number}"), range(50)))
    assert sum(recorded) == 1
    assert channel.evidence.read(0).description == f"try {recorded.index(True)}"


def test_an_operator_opens_when_restores_are_not_delayed_any_more(channel, progress):
    channel.signal(DelayRestore())
    with ThreadPoolExecutor(1) as thread:
        opened = thread.submit(channel.open_attempt, "t")
        while not progress.opening:
            progress.update()
        assert not opened.done()
        assert progress.attempts == {}
        channel.revoke(DelayRestore())
        attempt = opened.result()
    progress.update()
    assert progress.opening == {}
    assert progress.attempts == {"t": attempt}


def test_an_operator_waits_at_a_gate_until_it_is_released(channel, progress):
    with ThreadPoolExecutor(1) as thread:
        attempt = channel.open_attempt("t")
        waits = thread.submit(channel.wait_at_gate, GateReached("t", attempt, Gate.CHECKPOINT, 3))
        while not progress.waiting:
            progress.update()
        waiting = progress.waiting["t", Gate.CHECKPOINT]
        assert (waiting.attempt, waiting.number) == (attempt, 3)
        progress.release_all_gates()
        waits.result()
