"""Committed output, and the checkpoint that each file of it belongs to."""

from pathlib import Path

import pytest

from conformance.adapters.flink.committed import CommittedOutput
from conformance.adapters.flink.rows import DataRow, format_row, parse_row


@pytest.fixture
def committed(tmp_path):
    return CommittedOutput(tmp_path, ["job"])


def sink_file(number):
    return f"part-0000000{number}-1111-2222-3333-444444444444-0"


def checkpoint(committed, number, *named, job="job"):
    """Complete a checkpoint that names these files, among other things."""
    folder = committed.folder / "checkpoints" / job / f"chk-{number}"
    folder.mkdir(parents=True)
    paths = [f"{committed.folder}/sinks/0/{stream}/{name}".encode() for stream, name in named]
    (folder / "_metadata").write_bytes(b"\x00\xff" + b"\x03\x00".join(paths) + b"\x00/.part-hidden")


def commit(committed, stream, name, epoch, *events):
    folder = committed.folder / "sinks" / "0" / stream
    folder.mkdir(parents=True, exist_ok=True)
    rows = [DataRow(stream, epoch, event) for event in (*events, None)]
    (folder / name).write_text("".join(f"+I[0, {format_row(row)}]\n" for row in rows))


def shown(committed, case, tap, stream, ends, *, last):
    committed.update()
    return committed.epochs(case, tap, stream, ends, last=last)


def test_an_epoch_is_shown_when_all_its_files_are_visible(committed):
    checkpoint(committed, 1, ("s", sink_file(1)))
    assert shown(committed, 0, "s", "s", [(0, 1)], last=False) == ()
    commit(committed, "s", sink_file(1), 1, 5, "a, b]")
    assert shown(committed, 0, "s", "s", [(0, 1)], last=False) == ((5, "a, b]"),)


def test_a_file_belongs_to_the_first_checkpoint_that_names_it(committed):
    checkpoint(committed, 1, ("s", sink_file(1)))
    checkpoint(committed, 2, ("s", sink_file(1)), ("s", sink_file(2)))
    commit(committed, "s", sink_file(1), 1, 1)
    commit(committed, "s", sink_file(2), 2, 2)
    assert shown(committed, 0, "s", "s", [(0, 1), (0, 2)], last=True) == ((1,), (2,))


def test_checkpoints_and_not_events_decide_the_epoch(committed):
    checkpoint(committed, 1, ("s", sink_file(1)))
    commit(committed, "s", sink_file(1), 2, 7)
    assert shown(committed, 0, "s", "s", [(0, 1)], last=True) == ((7,),)


def test_a_checkpoint_that_ends_no_epoch_belongs_to_the_next_one_that_does(committed):
    for number in (1, 2):
        checkpoint(committed, number, ("s", sink_file(number)))
        commit(committed, "s", sink_file(number), 1, number)
    assert shown(committed, 0, "s", "s", [(0, 2)], last=True) == ((1, 2),)


def test_a_file_that_no_checkpoint_names_is_shown_behind_all_epochs(committed):
    checkpoint(committed, 1, ("s", sink_file(1)))
    commit(committed, "s", sink_file(1), 1, 1)
    commit(committed, "s", sink_file(2), 2, 9)
    assert shown(committed, 0, "s", "s", [(0, 1)], last=False) == ((1,), (9,))


def test_output_behind_the_last_epoch_is_shown_in_the_last_observation(committed):
    checkpoint(committed, 1, ("s", sink_file(1)))
    checkpoint(committed, 2, ("s", sink_file(2)))
    commit(committed, "s", sink_file(1), 1, 1)
    commit(committed, "s", sink_file(2), 1, 1)
    assert shown(committed, 0, "s", "s", [(0, 1)], last=False) == ((1,),)
    assert shown(committed, 0, "s", "s", [(0, 1)], last=True) == ((1,), (1,))


def test_checkpoints_of_successive_jobs_are_in_order(committed):
    checkpoint(committed, 7, ("s", sink_file(1)))
    committed.jobs.append("next")
    checkpoint(committed, 3, ("s", sink_file(2)), job="next")
    commit(committed, "s", sink_file(1), 1, 1)
    commit(committed, "s", sink_file(2), 2, 2)
    committed.update()
    assert committed.ends(0) == [(0, 7), (1, 3)]
    assert shown(committed, 0, "s", "s", committed.ends(0), last=True) == ((1,), (2,))


def test_the_last_border_shows_that_a_stream_is_complete(committed):
    checkpoint(committed, 1, ("s", sink_file(1)))
    committed.update()
    assert not committed.shows_border(0, "s", "s", 1)
    commit(committed, "s", sink_file(1), 1)
    assert committed.shows_border(0, "s", "s", 1)
    assert not committed.shows_border(0, "s", "s", 2)


@pytest.mark.parametrize("event", [0, 7, "", "a, b]", "ü\n", None])
def test_a_row_is_one_line_that_parses_to_itself(event):
    text = format_row(DataRow("s", 3, event))
    assert text.isascii()
    assert len(text.splitlines()) == 1
    assert parse_row(text) == DataRow("s", 3, event)


def test_a_checkpoint_whose_metadata_is_removed_is_none(committed, monkeypatch):
    checkpoint = committed.folder / "checkpoints" / "job" / "chk-1"
    checkpoint.mkdir(parents=True)
    (checkpoint / "_metadata").touch()

    def remove_and_read(path):
        path.unlink()
        raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "read_bytes", remove_and_read)
    committed.update()
    assert committed.checkpoints == []
