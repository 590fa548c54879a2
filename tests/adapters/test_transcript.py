"""What was said, by whom and when."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.adapters.stdio import Stdio
from conformance.adapters.subprocess_engine import SubprocessEngine
from conformance.adapters.transcript import LONGEST, Transcript, shown
from conformance.codec import read_case
from conformance.engine import RunRequest
from conformance.errors import EngineFailed, Unwritable
from tests import miniatures

CASE = read_case(Path(__file__).parents[2] / "examples" / "incremental-average.json")
COMMAND = [sys.executable, "-P", miniatures.__file__]


def lines(path):
    """The direction of every line, and what was said."""
    return [line.split(maxsplit=2)[1:] for line in path.read_text().splitlines()]


def test_every_line_each_way_is_there_in_its_order_and_what_we_said_can_be_said_again(tmp_path):
    path = tmp_path / "transcript"
    hears = Transcript(path)
    engine = Stdio([shlex.join([*COMMAND, "exit", "99"])], hears=hears)
    engine.start()
    list(engine.run([RunRequest(CASE)]))
    engine.stop()
    ways = [way for way, _ in lines(path)]
    assert ways[:4] == ["--", "->", "<-", "->"]
    assert ways[-2:] == ["->", "--"]
    assert lines(path)[-1] == ["--", "exit code 0"]
    times = [float(line.split()[0]) for line in path.read_text().splitlines()]
    assert times == sorted(times)
    said = "".join(f"{line}\n" for way, line in lines(path) if way == "->")
    again = subprocess.run([*COMMAND, "exit", "99"], input=said, capture_output=True, text=True, check=True)
    assert again.stdout.splitlines() == [line for way, line in lines(path) if way == "<-"]


def test_what_would_move_a_cursor_is_escaped_and_a_failure_is_a_remark(tmp_path):
    path = tmp_path / "transcript"
    engine = Stdio([shlex.join([*COMMAND, "garbage", "1"])], hears=Transcript(path))
    engine.start()
    with pytest.raises(EngineFailed):
        list(engine.run([RunRequest(CASE)]))
    assert "\x1b" not in path.read_text()
    assert ["<-", r"Hello \x1b[31m World"] in lines(path)
    assert lines(path)[-1][1].startswith("it printed what is no answer")


def test_a_line_without_end_is_cut_and_what_is_not_utf_8_is_shown():
    assert shown(b"x" * (LONGEST + 5)) == "x" * LONGEST + f"… ({LONGEST + 5} bytes)"
    assert shown(b"\xff ok") == "\\xff ok"


def test_a_transcript_is_written_over_nothing(tmp_path):
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(Unwritable, match="there is such a file already"):
        Transcript(tmp_path / "notes")
    with pytest.raises(Unwritable, match="No such file"):
        Transcript(tmp_path / "no" / "folder")
    assert (tmp_path / "notes").read_text() == "mine"


def test_an_engine_in_python_has_one_too(tmp_path):
    hears = Transcript(tmp_path / "transcript")
    engine = SubprocessEngine("reference", hears=hears)
    engine.start()
    engine.stop()
    assert [way for way, _ in lines(tmp_path / "transcript")] == ["--", "->", "<-", "->", "--"]
