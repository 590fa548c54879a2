"""Conformance of a real Spark."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest
from attrs import evolve

from conformance.adapters.spark import Spark
from conformance.case import Crash, Kill, Restart
from conformance.engine import RunRequest
from conformance.generators import cases, corpus
from conformance.generators.collect import collect
from conformance.judge import Budget, Conforms, Violates, judge

pytestmark = pytest.mark.spark


@contextmanager
def running(*settings):
    engine = Spark(settings)
    try:
        yield engine, engine.start()
    finally:
        engine.stop()


@pytest.fixture(scope="module")
def spark():
    """A started engine on a local master, and its description."""
    with running("local") as started:
        yield started


def judged(engine, given_cases):
    """
    Run cases until every failure has happened, and judge them.

    A case whose kill window was missed is inconclusive, and is run again.
    """
    for case, first in zip(
        given_cases, engine.run([RunRequest(case, seconds=300) for case in given_cases]), strict=True
    ):
        observed = first
        for _ in range(2):
            if len(observed.fired) < len(case.failures):
                (observed,) = engine.run([RunRequest(case, seconds=300)])
        verdict = judge(case, observed, Budget(steps=150_000))
        assert observed.end == "completed", (case, observed.message)
        assert [fired.failure for fired in observed.fired] == list(range(len(case.failures))), (case, observed.fired)
        for fired in observed.fired:
            assert fired.before < len(observed.observations), "there is an observation after every failure"
        yield case, verdict, [fired.evidence for fired in observed.fired]


def supported(description, given_cases):
    return [case for case in given_cases if not description.capabilities.unsupported(case)]


def paper(*failures):
    return evolve(corpus()["paper-observed-execution"], failures=failures, holds=())


def test_the_corpus_conforms_and_all_its_failures_happen(spark):
    engine, description = spark
    found = list(judged(engine, supported(description, corpus().values())))
    assert len(found) >= 23
    for case, verdict, _ in found:
        assert isinstance(verdict, Conforms), (case.name, verdict)


@pytest.mark.full
def test_generated_cases_conform(spark):
    engine, description = spark
    mild = evolve(description.capabilities, failures=["crash", "restart", "kill:worker:processing"])
    drawn = collect(cases(capabilities=mild), number=40, seed=3)
    assert sum(bool(case.failures) for case in drawn) >= 20
    for case, verdict, _ in judged(engine, drawn):
        assert isinstance(verdict, Conforms), (case, verdict)


@pytest.mark.parametrize(
    ("failures", "evidence"),
    [
        ((Kill("worker", 2),), ["SIGKILL of the Python worker of first in epoch 2"]),
        ((Kill("coordinator", 2, "snapshot"),), ["partitions was committed"]),
        ((Kill("coordinator", 2, "commit"),), ["the sink was done with it, and the commit log was not written"]),
        (
            (Crash("first", 2, 0), Kill("coordinator", 2, "recovery"), Restart(2)),
            ["an exception in first", "it had just begun to recover", "stopped with 2 epochs committed"],
        ),
    ],
    ids=["worker", "snapshot", "commit", "recovery"],
)
def test_a_kill_happens_in_its_phase(spark, failures, evidence):
    engine, _ = spark
    ((_, verdict, descriptions),) = judged(engine, [paper(*failures)])
    assert isinstance(verdict, Conforms), verdict
    for description, part in zip(descriptions, evidence, strict=True):
        assert part in description


@pytest.mark.full
def test_a_driver_is_killed_by_a_task_or_between_its_logs(spark):
    engine, _ = spark
    # Not in the first epoch: Spark 4.1 does not start again after a driver died while it wrote its first offset
    # (docs/engines/spark.md).
    several = [paper(Kill("coordinator", epoch)) for epoch in (2, 3)]
    descriptions = [evidence[0] for _, verdict, evidence in judged(engine, several) if isinstance(verdict, Conforms)]
    assert len(descriptions) == 2
    for each in descriptions:
        assert "by first in epoch" in each or "the source log was written, and the offset log was not" in each


@pytest.mark.full
def test_an_appending_sink_is_found_within_20_cases():
    with running("foreach-append", "local") as (engine, description):
        drawn = collect(cases(capabilities=description.capabilities), number=20, seed=0)
        violations = []
        while drawn and not violations:
            some, drawn = drawn[:5], drawn[5:]
            for case, observed in zip(some, engine.run([RunRequest(case, seconds=300) for case in some]), strict=True):
                verdict = judge(case, observed, Budget(steps=150_000))
                if isinstance(verdict, Violates):
                    violations.append((case, verdict))
        assert "duplicated" in [verdict.findings[0].diagnosis for _, verdict in violations]
        for case, verdict in violations:
            killed = [failure.phase for failure in case.failures if isinstance(failure, Kill)]
            assert "commit" in killed or "snapshot" in killed, (case, verdict)


@pytest.mark.full
@pytest.mark.parametrize("settings", [("foreach-batch",), ("rocksdb",), ("transform-with-state",), ("one-attempt",)])
def test_every_other_setting_conforms(settings):
    with running(*settings, "local") as (engine, description):
        mild = evolve(description.capabilities, failures=["crash"])
        drawn = collect(cases(capabilities=mild), number=8, seed=5)
        assert any(case.failures for case in drawn)
        for case, verdict, _ in judged(engine, [*drawn, paper(Kill("coordinator", 2, "commit"))]):
            assert isinstance(verdict, Conforms), (case, verdict)


@pytest.mark.full
def test_a_local_cluster_recovers_from_killed_executors():
    with running("local-cluster") as (engine, description):
        killed = [paper(Kill("worker", 2)), paper(Kill("worker", 2, "snapshot")), paper(Kill("coordinator", 2))]
        assert all(not description.capabilities.unsupported(case) for case in killed)
        found = list(judged(engine, killed))
        for case, verdict, _ in found:
            assert isinstance(verdict, Conforms), (case, verdict)
        assert "SIGKILL of the executor of first" in found[0][2][0]
        assert "SIGKILL of executor" in found[1][2][0]


def test_each_case_runs_on_the_master_that_its_failures_need():
    with running() as (engine, description):
        given_cases = [paper(Kill("worker", 2, "snapshot")), paper(Crash("first", 2, 0)), paper(Kill("worker", 2))]
        assert not any(map(description.capabilities.unsupported, given_cases))
        seen = list(engine.run([RunRequest(case, seconds=300) for case in given_cases]))
        assert [each.place for each in seen] == ["local-cluster", "local", "local-cluster"]
        for case, each in zip(given_cases, seen, strict=True):
            assert isinstance(judge(case, each), Conforms)
        assert "SIGKILL of the executor of first" in seen[2].fired[0].evidence


def test_a_stopped_engine_leaves_no_files_and_no_processes():
    with running("local") as (engine, _):
        list(engine.run([RunRequest(paper(Kill("coordinator", 1, "commit")))]))
        folder = engine._folder  # noqa: SLF001
        assert folder.exists()
    assert not folder.exists()
    commands = [process.info["cmdline"] for process in psutil.process_iter(["cmdline"])]
    assert not any(str(folder) in " ".join(line or []) for line in commands)


@pytest.fixture
def cluster(tmp_path):
    """A standalone cluster: a process for the master, and one for the worker."""
    home = Path(find_spec("pyspark").origin).parent
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    port = free_port()
    master = f"spark://127.0.0.1:{port}"
    processes = []

    def start(name, *arguments):
        command = [home / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", "--host", "127.0.0.1", *arguments]
        processes.append(subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, start_new_session=True))

    start("master.Master", "--port", str(port), "--webui-port", str(free_port()))
    wait_for(port)
    start(
        "worker.Worker",
        "--cores",
        "16",
        "--memory",
        "16g",
        "--webui-port",
        str(free_port()),
        "--work-dir",
        str(tmp_path),
        master,
    )
    yield master
    for process in processes:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def wait_for(port):
    for _ in range(600):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.1)
    raise AssertionError("the master does not answer")


@pytest.mark.full
def test_an_existing_cluster_conforms(cluster):
    with running(cluster) as (engine, description):
        killed = paper(Kill("worker", 2), Kill("coordinator", 3))
        assert not description.capabilities.unsupported(killed)
        ((_, verdict, evidence),) = judged(engine, [killed])
        assert isinstance(verdict, Conforms), verdict
        assert "SIGKILL of the executor of first" in evidence[0]


def test_a_master_that_does_not_answer_is_named_soon():
    command = [sys.executable, "-m", "conformance", "certify", "spark:spark://127.0.0.1:1"]
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, time.monotonic() - began < 30) == (4, True)
    assert "no Spark master answers at 127.0.0.1:1 (Connection refused); start one with `spark-class" in done.stderr
    assert "or use spark without a master" in done.stderr
    assert "driver_process.py" not in done.stderr
