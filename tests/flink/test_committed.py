"""What is committed, and with which checkpoint."""

import json

import pytest

from conformance.adapters.flink.committed import Committed


@pytest.fixture
def committed(tmp_path):
    return Committed(tmp_path, ["job"])


def part(number):
    return f"part-0000000{number}-1111-2222-3333-444444444444-0"


def checkpoint(committed, number, *named, job="job"):
    """A checkpoint is complete that names these files, among other things."""
    folder = committed.folder / "checkpoints" / job / f"chk-{number}"
    folder.mkdir(parents=True)
    paths = [f"{committed.folder}/sinks/0/{stream}/{name}".encode() for stream, name in named]
    (folder / "_metadata").write_bytes(b"\x00\xff" + b"\x03\x00".join(paths) + b"\x00/.part-hidden")


def commit(committed, stream, name, epoch, *events):
    folder = committed.folder / "sinks" / "0" / stream
    folder.mkdir(parents=True, exist_ok=True)
    rows = [[stream, epoch, event] for event in events] + [[stream, epoch]]
    (folder / name).write_text("".join(f"+I[0, {json.dumps(row)}]\n" for row in rows))


def shown(committed, case, tap, stream, ends, *, last):
    committed.look()
    return committed.epochs(case, tap, stream, ends, last=last)


def test_an_epoch_is_shown_when_its_files_are_and_not_before(committed):
    checkpoint(committed, 1, ("s", part(1)))
    assert shown(committed, 0, "s", "s", [(0, 1)], last=False) == ()
    commit(committed, "s", part(1), 1, 5, "a, b]")
    assert shown(committed, 0, "s", "s", [(0, 1)], last=False) == ((5, "a, b]"),)


def test_a_file_belongs_to_the_first_checkpoint_that_names_it(committed):
    checkpoint(committed, 1, ("s", part(1)))
    checkpoint(committed, 2, ("s", part(1)), ("s", part(2)))
    commit(committed, "s", part(1), 1, 1)
    commit(committed, "s", part(2), 2, 2)
    assert shown(committed, 0, "s", "s", [(0, 1), (0, 2)], last=True) == ((1,), (2,))


def test_the_epoch_that_an_event_says_it_is_of_does_not_matter(committed):
    checkpoint(committed, 1, ("s", part(1)))
    commit(committed, "s", part(1), 2, 7)
    assert shown(committed, 0, "s", "s", [(0, 1)], last=True) == ((7,),)


def test_a_checkpoint_that_ends_no_epoch_is_part_of_the_next_that_does(committed):
    for number in (1, 2):
        checkpoint(committed, number, ("s", part(number)))
        commit(committed, "s", part(number), 1, number)
    assert shown(committed, 0, "s", "s", [(0, 2)], last=True) == ((1, 2),)


def test_what_no_checkpoint_knows_of_is_shown_all_the_same(committed):
    checkpoint(committed, 1, ("s", part(1)))
    commit(committed, "s", part(1), 1, 1)
    commit(committed, "s", part(2), 2, 9)
    assert shown(committed, 0, "s", "s", [(0, 1)], last=False) == ((1,), (9,))


def test_what_comes_behind_the_last_epoch_is_shown_at_the_end(committed):
    checkpoint(committed, 1, ("s", part(1)))
    checkpoint(committed, 2, ("s", part(2)))
    commit(committed, "s", part(1), 1, 1)
    commit(committed, "s", part(2), 1, 1)
    assert shown(committed, 0, "s", "s", [(0, 1)], last=False) == ((1,),)
    assert shown(committed, 0, "s", "s", [(0, 1)], last=True) == ((1,), (1,))


def test_jobs_that_follow_each_other_come_in_their_order(committed):
    checkpoint(committed, 7, ("s", part(1)))
    committed.jobs.append("next")
    checkpoint(committed, 3, ("s", part(2)), job="next")
    commit(committed, "s", part(1), 1, 1)
    commit(committed, "s", part(2), 2, 2)
    committed.look()
    assert committed.ends(0) == [(0, 7), (1, 3)]
    assert shown(committed, 0, "s", "s", committed.ends(0), last=True) == ((1,), (2,))


def test_the_last_border_says_that_a_stream_is_whole(committed):
    checkpoint(committed, 1, ("s", part(1)))
    committed.look()
    assert not committed.shows_border(0, "s", "s", 1)
    commit(committed, "s", part(1), 1)
    assert committed.shows_border(0, "s", "s", 1)
    assert not committed.shows_border(0, "s", "s", 2)
