"""`conformance engines`: one line for each engine, and nothing that an engine prints."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.cli import engines, main

ROOT = Path(__file__).parents[2]


def list_engines(capfd, monkeypatch, name):
    """Run `conformance engines` where there is one engine; return what the terminal shows."""
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.setattr(engines, "names", lambda: [name])
    with pytest.raises(SystemExit):
        main(["engines"])
    return capfd.readouterr()


def test_the_output_of_an_engine_is_not_printed(capfd, monkeypatch):
    out, err = list_engines(capfd, monkeypatch, "python:tests.engines:Noisy")
    assert out.startswith("python:tests.engines:Noisy 1: ready;")
    assert "WARN" not in out + err


def test_the_output_of_an_engine_that_fails_is_quoted(capfd, monkeypatch):
    monkeypatch.setenv("NOISY_FAILS", "1")
    out, _ = list_engines(capfd, monkeypatch, "python:tests.engines:Noisy")
    assert "it ended early, with exit code 1; on stderr: WARN on stdout | WARN on stderr" in out


@pytest.mark.parametrize(
    "engine", [pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("spark", "flink")]
)
def test_a_real_engine_is_a_line_and_a_remark_on_its_java(engine):
    environment = {**os.environ, "JAVA_HOME": "/no/such/folder", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "conformance", "engines"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert [line for line in done.stdout.splitlines() if line.startswith(f"{engine} ")]
    assert all("uses Java" in line for line in done.stderr.splitlines()), done.stderr
    assert f"{engine}: uses Java 21." in done.stderr
