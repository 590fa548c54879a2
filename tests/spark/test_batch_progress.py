"""The progress of a driver within a micro-batch, read from files, without Spark."""

import os
from random import Random
from time import time

import pytest

from conformance.adapters.spark.batch_progress import (
    COMMIT,
    OFFSETS,
    SINK,
    SINK_LOG,
    SOURCE,
    STATE,
    choose_window,
    read_progress,
)
from conformance.case import Kill

EARLIER = time() - 1000


@pytest.fixture
def write(tmp_path):
    def touch(name, at=None):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        if at is not None:
            os.utime(file, (at, at))

    return touch


def test_progress_follows_the_writes_of_a_micro_batch(tmp_path, write):
    steps = [
        ("checkpoint/sources/0/1", (SOURCE, 0)),
        ("checkpoint/offsets/1", (OFFSETS, 0)),
        ("checkpoint/state/0/0/2.delta", (STATE, 1)),
        ("checkpoint/state/0/1/2.delta", (STATE, 2)),
        ("checkpoint/state/1/0/2.delta", (STATE, 3)),
        ("out/_spark_metadata/1", (SINK, 0)),
        ("checkpoint/commits/1", (COMMIT, 0)),
    ]
    assert read_progress(tmp_path, 2, 1, EARLIER) == (0, 0)
    for name, expected in steps:
        write(name)
        assert read_progress(tmp_path, 2, 1, EARLIER) == expected


def test_files_of_other_batches_and_unfinished_files_do_not_count(tmp_path, write):
    for name in ("offsets/0", "commits/0", "sources/0/0", "state/0/0/1.delta", "offsets/.1.abc.tmp"):
        write(f"checkpoint/{name}")
    assert read_progress(tmp_path, 2, 1, EARLIER) == (0, 0)


@pytest.mark.parametrize("name", ["2.delta", "2.zip", "2.changelog"])
def test_files_of_every_state_store_are_recognised(tmp_path, write, name):
    write(f"checkpoint/state/0/1/{name}")
    assert read_progress(tmp_path, 2, 1, EARLIER) == (STATE, 1)


def test_state_of_an_earlier_driver_is_no_progress(tmp_path, write):
    write("checkpoint/offsets/1")
    write("checkpoint/state/0/0/2.delta", at=EARLIER)
    write(f"{SINK_LOG}/1", at=EARLIER)
    assert read_progress(tmp_path, 2, 1, time()) == (OFFSETS, 0)
    write("checkpoint/state/0/0/2.delta", at=time())
    assert read_progress(tmp_path, 2, 1, time()) == (STATE, 1)


def test_every_phase_has_its_kill_window():
    chance = Random(0)
    snapshot = choose_window(Kill("coordinator", 1, "snapshot"), chance, stores=6, first=True)
    commit = choose_window(Kill("coordinator", 1, "commit"), chance, stores=6, first=True)
    assert snapshot.is_open((STATE, 6))
    assert not snapshot.is_open((SINK, 0))
    assert not snapshot.is_open((OFFSETS, 0))
    assert commit.is_open((SINK, 0))
    assert not commit.is_open((COMMIT, 0))
    assert choose_window(Kill("coordinator", 1, "recovery"), chance, stores=6, first=False) is None


def test_every_gap_of_a_phase_can_be_chosen():
    snapshots = {
        choose_window(Kill("coordinator", 1, "snapshot"), Random(n), stores=4, first=True).opens for n in range(100)
    }
    assert snapshots == {(STATE, n) for n in range(1, 5)}
    processing = {choose_window(Kill("coordinator", 1), Random(n), stores=4, first=True) is None for n in range(100)}
    assert processing == {True, False}


def test_no_window_is_between_logs_that_exist_already():
    for number in range(100):
        assert choose_window(Kill("coordinator", 1), Random(number), stores=4, first=False) is None
        assert choose_window(Kill("worker", 1), Random(number), stores=4, first=True) is None
