"""Ctrl-C and SIGTERM during `conformance certify`, at any moment."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from conformance.cli import certify as command

pytestmark = [pytest.mark.campaign, pytest.mark.usefixtures("somewhere")]

THREAD_START = threading.Thread.start


def test_an_interruption_beside_a_thread_that_was_just_started_is_clean(conformance, monkeypatch):
    """`ThreadPoolExecutor` joins only threads that it has noted, after they were started."""

    def start(thread):
        THREAD_START(thread)
        if thread.name.startswith("batch"):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(threading.Thread, "start", start)
    monkeypatch.setenv("SLEEP", "30")
    code, _, err = conformance("certify", "python:tests.engines:Sleeping", "--out", "out")
    assert (code, "Continue with" in err, "Traceback" in err) == (130, True, False)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("batch")]


def test_an_interruption_within_a_finalizer_is_not_lost(conformance, monkeypatch):
    """Python ignores every exception of a finalizer, also KeyboardInterrupt."""

    class Finalized:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(command, "point_latest", lambda *_, **__: Finalized() and None)
    assert conformance("certify", "reference", "--cases", 0, "--out", "out")[0] == 130


def test_what_an_interruption_breaks_is_an_interruption(conformance, monkeypatch):
    def broken(*_, **__):
        signal.raise_signal(signal.SIGINT)
        raise RuntimeError("broken by the signal")

    monkeypatch.setattr(command, "point_latest", broken)
    code, _, err = conformance("certify", "reference", "--cases", 0, "--out", "out")
    assert (code, "broken" in err, "Continue with" in err) == (130, False, True)


def test_an_interrupted_report_is_written_on_resume(conformance, monkeypatch):
    finish = command.finish
    with monkeypatch.context() as patched:
        patched.setattr(command, "finish", lambda folder: (finish(folder), signal.raise_signal(signal.SIGINT)))
        code, _, err = conformance("certify", "reference", "--cases", 0, "--out", "out")
    assert (code, "Continue with" in err, Path("out", "index.html").exists()) == (130, True, False)
    assert conformance("certify", "--resume", "--out", "out")[0] == 0
    assert Path("out", "index.html").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "engines", [["python:tests.engines:SlowToStart"], ["reference", "python:tests.engines:SlowToStart"]]
)
def test_an_interruption_while_engines_start_leaves_nothing(tmp_path, engines, number):
    environment = {**os.environ, "SLEEP": "30", "PYTHONPATH": str(Path(__file__).parents[2])}
    arguments = [sys.executable, "-m", "conformance", "certify", *engines]
    process = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True)
    while not Path("slow").exists():
        time.sleep(0.05)
    children = psutil.Process(process.pid).children(recursive=True)
    assert children
    os.killpg(process.pid, number)
    _, err = process.communicate(timeout=10)
    assert (process.returncode, "There is nothing to resume" in err, "--resume" in err) == (130, True, False)
    assert psutil.wait_procs(children, timeout=5)[1] == []
    assert [file.name for file in tmp_path.iterdir()] == ["slow"]
