"""Injected crashes, and the evidence of injected failures."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import time

import pytest

from conformance.adapters.faults import (
    EvidenceLog,
    InjectedCrash,
    TaskPosition,
    inject_crash,
    is_crash_due,
    next_failure,
)
from conformance.case import BORDER, Crash, Kill, Restart


@pytest.fixture
def evidence(tmp_path):
    log = EvidenceLog(str(tmp_path / "evidence"), 3)
    log.prepare()
    return log


@pytest.mark.parametrize(
    ("event", "position", "due"),
    [
        (1, TaskPosition("t", 2, 1), True),
        (1, TaskPosition("t", 2, 0), False),
        (1, TaskPosition("t", 1, 1), False),
        (1, TaskPosition("u", 2, 1), False),
        (1, TaskPosition("t", 2, 2, is_border=True), False),
        (2, TaskPosition("t", 2, 2, is_border=True), True),
        (7, TaskPosition("t", 2, 0, is_border=True), True),
        (BORDER, TaskPosition("t", 2, 2, is_border=True), True),
        (BORDER, TaskPosition("t", 2, 2), False),
    ],
)
def test_a_crash_is_due_at_its_event_or_at_the_border_behind_the_last(event, position, due):
    assert is_crash_due(Crash("t", 2, event), position) is due


@pytest.mark.parametrize("failure", [None, Kill("worker", 2), Restart(2)])
def test_no_other_failure_is_a_crash_that_is_due(failure):
    assert not is_crash_due(failure, TaskPosition("t", 2, 0, is_border=True))


def test_the_next_failure_follows_the_injected_ones():
    failures = (Crash("t", 1, 0), Restart(2))
    assert [next_failure(failures, injected) for injected in range(3)] == [*failures, None]


def test_an_injected_crash_is_raised_once_and_leaves_evidence(evidence):
    with pytest.raises(InjectedCrash, match=r"^t in epoch 1, before event 0$"):
        inject_crash(evidence, 0, TaskPosition("t", 1, 0))
    inject_crash(evidence, 0, TaskPosition("t", 1, 0))
    found = evidence.read(0)
    assert found.description.startswith("an exception in t in epoch 1, before event 0 (process ")
    assert abs(found.time - time()) < 60


def test_evidence_counts_the_failures_of_its_own_case(evidence):
    other = EvidenceLog(evidence.folder, 4)
    assert evidence.count() == 0
    assert evidence.record(0, "first")
    assert evidence.record(1, "second")
    assert (evidence.count(), other.count()) == (2, 0)
    assert (evidence.has(1), evidence.has(2)) == (True, False)


def test_the_description_of_evidence_keeps_its_spaces(evidence):
    evidence.record(0, "SIGKILL of process 7  before its border")
    assert evidence.read(0).description == "SIGKILL of process 7  before its border"


def test_an_evidence_file_appears_with_all_of_its_content(evidence):
    description = "word " * 100_000
    with ThreadPoolExecutor(1) as other:
        recorded = other.submit(evidence.record, 0, description)
        while not evidence.has(0):
            pass
        assert evidence.read(0).description == description
        assert recorded.result()


def test_one_of_several_writers_records_a_failure(evidence):
    with ThreadPoolExecutor(8) as several:
        recorded = list(several.map(lambda number: evidence.record(0, str(number)), range(8)))
    assert recorded.count(True) == 1
    assert evidence.read(0).description == str(recorded.index(True))
    assert [file.name for file in Path(evidence.folder).iterdir()] == ["3-0"]


def test_an_evidence_log_can_be_sent_to_another_process(evidence):
    evidence.record(0, "here")
    assert pickle.loads(pickle.dumps(evidence)).read(0).description == "here"  # noqa: S301 - our own
