"""How far a driver has got, read off files that stand for what it writes."""

import os
from random import Random
from time import time

import pytest

from conformance.adapters.spark.batch_progress import COMMIT, OFFSETS, SINK, SOURCE, STATE, WRITTEN, reached, window
from conformance.case import Kill

EARLIER = time() - 1000


@pytest.fixture
def write(tmp_path):
    def touch(place, at=None):
        file = tmp_path / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        if at is not None:
            os.utime(file, (at, at))

    return touch


def test_a_batch_is_followed_from_one_write_to_the_next(tmp_path, write):
    steps = [
        ("checkpoint/sources/0/1", (SOURCE, 0)),
        ("checkpoint/offsets/1", (OFFSETS, 0)),
        ("checkpoint/state/0/0/2.delta", (STATE, 1)),
        ("checkpoint/state/0/1/2.delta", (STATE, 2)),
        ("checkpoint/state/1/0/2.delta", (STATE, 3)),
        ("out/_spark_metadata/1", (SINK, 0)),
        ("checkpoint/commits/1", (COMMIT, 0)),
    ]
    assert reached(tmp_path, 2, 1, EARLIER) == (0, 0)
    for place, expected in steps:
        write(place)
        assert reached(tmp_path, 2, 1, EARLIER) == expected


def test_other_batches_and_unfinished_files_do_not_count(tmp_path, write):
    for place in ("offsets/0", "commits/0", "sources/0/0", "state/0/0/1.delta", "offsets/.1.abc.tmp"):
        write(f"checkpoint/{place}")
    assert reached(tmp_path, 2, 1, EARLIER) == (0, 0)


@pytest.mark.parametrize("name", ["2.delta", "2.zip", "2.changelog"])
def test_every_state_store_has_its_own_names(tmp_path, write, name):
    write(f"checkpoint/state/0/1/{name}")
    assert reached(tmp_path, 2, 1, EARLIER) == (STATE, 1)


def test_what_an_earlier_driver_wrote_of_the_state_is_not_this_ones_progress(tmp_path, write):
    write("checkpoint/offsets/1")
    write("checkpoint/state/0/0/2.delta", at=EARLIER)
    write(f"{WRITTEN}/1", at=EARLIER)
    assert reached(tmp_path, 2, 1, time()) == (OFFSETS, 0)
    write("checkpoint/state/0/0/2.delta", at=time())
    assert reached(tmp_path, 2, 1, time()) == (STATE, 1)


def test_every_phase_has_its_window():
    chance = Random(0)
    snapshot = window(Kill("coordinator", 1, "snapshot"), chance, stores=6, first=True)
    commit = window(Kill("coordinator", 1, "commit"), chance, stores=6, first=True)
    assert snapshot.is_open((STATE, 6))
    assert not snapshot.is_open((SINK, 0))
    assert not snapshot.is_open((OFFSETS, 0))
    assert commit.is_open((SINK, 0))
    assert not commit.is_open((COMMIT, 0))
    assert window(Kill("coordinator", 1, "recovery"), chance, stores=6, first=False) is None


def test_all_gaps_are_chosen_sooner_or_later():
    snapshots = {window(Kill("coordinator", 1, "snapshot"), Random(n), stores=4, first=True).opens for n in range(100)}
    assert snapshots == {(STATE, n) for n in range(1, 5)}
    processing = {window(Kill("coordinator", 1), Random(n), stores=4, first=True) is None for n in range(100)}
    assert processing == {True, False}


def test_logs_that_are_written_already_are_no_moment_to_wait_for():
    for number in range(100):
        assert window(Kill("coordinator", 1), Random(number), stores=4, first=False) is None
        assert window(Kill("worker", 1), Random(number), stores=4, first=True) is None
