"""Cases with kills, the evidence that is expected of each phase, and runs in a process that a test can kill."""

import os
import subprocess
import sys
from contextlib import contextmanager

from attrs import evolve

from conformance.adapters.flink import Flink
from conformance.case import Crash, Kill
from conformance.engine import RunRequest
from conformance.generators import corpus
from conformance.judge import Budget, Conforms, judge

CASE = evolve(corpus()["paper-observed-execution"], failures=(), holds=())

EVIDENCE = {
    "processing": r"epoch 2 was in flight: .* had been played.*, and no checkpoint had been asked for",
    "snapshot": r"checkpoint \d+ was under way: \d+ of \d+ tasks were done with it",
    "commit": r"checkpoint \d+ was complete, and [1-9]\d* of its \d+ files were not there",
    "recovery": r"[1-9]\d* of \d+ tasks were being restored after failure 0",
}


@contextmanager
def running(*settings):
    engine = Flink(settings)
    try:
        yield engine, engine.start()
    finally:
        engine.stop()


def killing(target, phase):
    """Return a case in which a node is killed in a phase."""
    before = [Crash("first", 2, 1)] if phase == "recovery" else []
    return evolve(CASE, failures=(*before, Kill(target, 2, phase)))


def observe(engine, case, seed=0):
    """Run a case, check that it conforms and that all its failures have happened, and return its observations."""
    (seen,) = engine.run([RunRequest(case, seconds=300, seed=seed)])
    assert seen.end == "completed", seen.message
    assert [fired.failure for fired in seen.fired] == list(range(len(case.failures))), seen.fired
    verdict = judge(case, seen, Budget(steps=150_000))
    assert isinstance(verdict, Conforms), verdict
    return seen


@contextmanager
def run_script(tmp_path, script):
    """Run a script that prints when it is ready, in a process of its own."""
    with subprocess.Popen(
        [sys.executable, "-P", "-c", f"import sys; sys.path[:] = {sys.path!r}\n{script}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as process:
        assert process.stdout.readline() == "ready\n"
        yield process
