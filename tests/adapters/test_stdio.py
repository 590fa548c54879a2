"""The protocol, and engines that break it."""

import shlex
import sys
from pathlib import Path

import psutil
import pytest

from conformance.adapters.stdio import Patience, Stdio
from conformance.adapters.subprocess_engine import SubprocessEngine
from conformance.codec import digest, read_case
from conformance.engine import RunRequest
from conformance.errors import EngineFailed, EngineUnavailable, UnknownEngine
from conformance.generators import corpus
from conformance.judge import Conforms, judge
from tests import miniatures

CASE = read_case(Path(__file__).parents[2] / "examples" / "incremental-average.json")
REQUEST = RunRequest(CASE, seconds=0.5)


@pytest.fixture
def miniature(tmp_path, monkeypatch):
    """A misbehaving engine, with little patience for it; nothing it started may be left when it was stopped."""
    made = []
    for module in ("pipe", "stdio"):
        monkeypatch.setattr(f"conformance.adapters.{module}.LARGEST_FILE", 2**21)

    def make(way, *, every=1, quota=2**30):
        command = shlex.join([sys.executable, "-P", miniatures.__file__, way, str(every)])
        engine = Stdio([command], log=tmp_path / "log", patience=Patience(start=30), quota=quota)
        made.append(engine)
        engine.start()
        return engine

    yield make
    for engine in made:
        engine.stop()
    assert miniatures.alive() == []


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("hang", "it let its deadline pass"),
        ("exit", "it ended early, with exit code 3"),
        ("die", "it was ended by SIGKILL"),
        ("garbage", r"it printed what is no answer: 'Hello \\x1b\[31m World' "),
        ("not-utf8", "it printed what is not UTF-8"),
        ("number", r"what it answers is refused: \$: found 42; expected an object"),
        ("flood", "it printed a line of more than 2 MiB"),
        ("drown", "it printed more than 2 MiB for a case"),
        ("another-case", r"refused: \$.id: found 1; expected the id of a case that is running: 0"),
        ("last-words", r"exit code 1; on stderr: my last words \\x07"),
    ],
)
def test_a_malformed_answer_is_an_error_and_the_engine_can_be_restarted(miniature, way, said):
    engine = miniature(way)
    with pytest.raises(EngineFailed, match=said):
        list(engine.run([REQUEST if way == "hang" else RunRequest(CASE)]))
    with pytest.raises(EngineFailed, match="it is not running"):
        list(engine.run([REQUEST]))
    engine.start()


def test_exceeding_the_quota_is_the_engines_error(miniature):
    with pytest.raises(EngineFailed, match="it wrote more than 8,388,608 bytes into its temporary folder"):
        list(miniature("fill", quota=2**23).run([REQUEST]))
    with pytest.raises(EngineFailed, match=r"exit code 1; on stderr: .*File too large"):
        list(miniature("fill-one-file", quota=2**23).run([REQUEST]))


def test_a_leaked_process_is_ended_even_in_its_own_session(miniature, monkeypatch):
    monkeypatch.setenv("LEAK", "4711")
    with pytest.raises(EngineFailed, match="it ended early, with exit code 0"):
        list(miniature("leak").run([REQUEST]))
    assert not [each for each in psutil.process_iter(["cmdline"]) if each.info["cmdline"] == ["sleep", "4711"]]


def test_an_engines_temporary_folder_is_removed(miniature, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    engine = miniature("fill", every=1, quota=2**23)
    assert list(tmp_path.glob("conformance-*"))
    with pytest.raises(EngineFailed):
        list(engine.run([REQUEST]))
    assert not list(tmp_path.glob("conformance-*"))


def test_stderr_is_kept_in_the_log(miniature, tmp_path):
    with pytest.raises(EngineFailed):
        list(miniature("last-words").run([REQUEST]))
    assert (tmp_path / "log").read_text() == "my last words \x07\n"


def test_a_command_that_is_not_there_cannot_be_run():
    with pytest.raises(EngineUnavailable, match="its command cannot be run: No such file"):
        Stdio(["/no/such/adapter --fast"]).start()
    with pytest.raises(UnknownEngine, match="wants a command line"):
        Stdio([""])
    with pytest.raises(UnknownEngine, match="is no command line: No closing quotation"):
        Stdio(["an 'adapter"])


def test_a_python_engine_answers_the_same_behind_the_protocol():
    engine = SubprocessEngine("reference")
    described = engine.start()
    cases = list(corpus().values())
    seen = list(engine.run([RunRequest(case) for case in cases]))
    engine.stop()
    assert described.info.name == "reference"
    assert [each.case_digest for each in seen] == [digest(case) for case in cases]
    for case, each in zip(cases, seen, strict=True):
        assert isinstance(judge(case, each), Conforms)
        assert [fired.failure for fired in each.fired] == list(range(len(case.failures)))
