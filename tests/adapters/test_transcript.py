"""What was said, by whom and when."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.adapters.stdio import Stdio
from conformance.adapters.subprocess_engine import SubprocessEngine
from conformance.adapters.transcript import LONGEST_LINE, Transcript, sanitize_line
from conformance.codec import read_case
from conformance.engine import RunRequest
from conformance.errors import EngineFailed, Unwritable
from tests import miniatures

CASE = read_case(Path(__file__).parents[2] / "examples" / "incremental-average.json")
COMMAND = [sys.executable, "-P", miniatures.__file__]


def lines(path):
    """The direction of every line, and what was said."""
    return [line.split(maxsplit=2)[1:] for line in path.read_text().splitlines()]


def test_a_transcript_has_every_line_in_order_and_can_be_sent_again(tmp_path):
    path = tmp_path / "transcript"
    listener = Transcript(path)
    engine = Stdio([shlex.join([*COMMAND, "exit", "99"])], listener=listener)
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


def test_control_characters_are_escaped_and_a_failure_is_a_remark(tmp_path):
    path = tmp_path / "transcript"
    engine = Stdio([shlex.join([*COMMAND, "garbage", "1"])], listener=Transcript(path))
    engine.start()
    with pytest.raises(EngineFailed):
        list(engine.run([RunRequest(CASE)]))
    assert "\x1b" not in path.read_text()
    assert ["<-", r"Hello \x1b[31m World"] in lines(path)
    assert lines(path)[-1][1].startswith("it printed what is no answer")


def test_long_lines_are_cut_and_invalid_utf_8_is_escaped():
    assert sanitize_line(b"x" * (LONGEST_LINE + 5)) == "x" * LONGEST_LINE + f"… ({LONGEST_LINE + 5} bytes)"
    assert sanitize_line(b"\xff ok") == "\\xff ok"


def test_a_transcript_overwrites_no_file(tmp_path):
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(Unwritable, match="there is such a file already"):
        Transcript(tmp_path / "notes")
    with pytest.raises(Unwritable, match="No such file"):
        Transcript(tmp_path / "no" / "folder")
    assert (tmp_path / "notes").read_text() == "mine"


def test_a_python_engine_has_a_transcript(tmp_path):
    listener = Transcript(tmp_path / "transcript")
    engine = SubprocessEngine("reference", listener=listener)
    engine.start()
    engine.stop()
    assert [way for way, _ in lines(tmp_path / "transcript")] == ["--", "->", "<-", "->", "--"]
