"""A real Flink, as processes of this machine."""

import re
import signal
import tempfile
from itertools import count

import psutil
import pytest
from attrs import evolve

from conformance.adapters import orphans
from conformance.adapters.subprocess_engine import SubprocessEngine
from conformance.adapters.supervisor import OWNER, identity
from conformance.case import PHASES, Crash, Kill, Partition
from conformance.engine import RunRequest
from conformance.generators import cases, corpus
from conformance.generators.collect import collect
from conformance.judge import Budget, Conforms, judge
from tests.flink.fault_cases import CASE, EVIDENCE, killing, observe, run_script, running

pytestmark = pytest.mark.flink


@pytest.fixture(scope="module")
def flink():
    with running("processes") as both:
        yield both


def java_of(owner):
    """Return the Java processes of an owner."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(OWNER) == owner and "java" in process.name():
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def test_four_nodes_listen_on_loopback_only(flink):
    _, description = flink
    assert description.capabilities.failures == {"crash", "restart", "kill"}
    assert description.capabilities.unsupported(evolve(CASE, failures=(Partition("worker", 1, 1),)))
    nodes = java_of(orphans.owner())
    assert len(nodes) == 4
    listening = [each.laddr.ip for node in nodes for each in node.net_connections("inet") if each.status == "LISTEN"]
    assert listening
    assert {address.removeprefix("::ffff:") for address in listening} == {"127.0.0.1"}


def test_each_case_runs_in_the_place_that_its_failures_need():
    engine = SubprocessEngine("flink")
    given_cases = [killing("worker", "commit"), evolve(CASE, failures=(Crash("first", 2, 1),)), CASE]
    try:
        assert not any(map(engine.start().capabilities.unsupported, given_cases))
        seen = list(engine.run([RunRequest(case, seconds=300) for case in given_cases]))
    finally:
        engine.stop()
    assert [each.place for each in seen] == ["processes", "embedded", "embedded"]
    for case, each in zip(given_cases, seen, strict=True):
        assert len(each.fired) == len(case.failures)
        assert isinstance(judge(case, each, Budget(steps=150_000)), Conforms)


@pytest.mark.full
def test_cases_without_kills_conform(flink):
    engine, _ = flink
    given = [case for case in corpus().values() if all(isinstance(each, Crash) for each in case.failures)][:6]
    for case, seen in zip(given, engine.run([RunRequest(case, seconds=300) for case in given]), strict=True):
        assert seen.end == "completed", seen.message
        assert len(seen.fired) == len(case.failures)
        assert isinstance(judge(case, seen, Budget(steps=150_000)), Conforms)


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("standby", [pytest.param("with a standby", marks=pytest.mark.full), "without a standby"])
def test_a_worker_is_killed_in_every_phase(flink, phase, standby):
    from conformance.adapters.flink.faults.standby import has_standby  # noqa: PLC0415 - it needs PyFlink

    engine, _ = flink
    case = killing("worker", phase)
    seed = next(seed for seed in count() if has_standby(RunRequest(case, seed=seed)) == (standby == "with a standby"))
    evidence = observe(engine, case, seed).fired[-1].evidence
    assert re.fullmatch(rf"SIGKILL of worker-\d+ \(process \d+\), {standby}, when {EVIDENCE[phase]}", evidence), (
        evidence
    )


@pytest.mark.parametrize("phase", PHASES)
def test_the_coordinator_is_killed_in_every_phase(flink, phase):
    engine, _ = flink
    evidence = observe(engine, killing("coordinator", phase)).fired[-1].evidence
    assert re.fullmatch(rf"SIGKILL of coordinator-\d+ \(process \d+\) when {EVIDENCE[phase]}", evidence), evidence


@pytest.mark.full
def test_a_case_has_several_kills(flink):
    engine, _ = flink
    failures = (
        Kill("worker", 1),
        Kill("coordinator", 1, "recovery"),
        Kill("worker", 2, "commit"),
        Crash("first", 3, 0),
    )
    observe(engine, evolve(CASE, failures=failures))


@pytest.mark.full
def test_generated_cases_with_kills_conform(flink):
    engine, description = flink
    drawn = collect(cases(capabilities=description.capabilities), number=60, seed=11)
    given = [case for case in drawn if any(isinstance(each, Kill) for each in case.failures)][:3]
    assert len(given) == 3
    for case in given:
        observe(engine, case)


SCRIPT = """
import sys
from conformance.adapters.flink import Flink
engine = Flink(["processes"])
engine.start()
print("ready", flush=True)
try:
    sys.stdin.read()
finally:
    engine.stop()
"""


def orphan_counts(identity, tmp_path):
    return len(java_of(identity)), len(list(tmp_path.glob("flink-*")))


@pytest.mark.parametrize(("signal_number", "folders"), [(signal.SIGINT, 0), (signal.SIGKILL, 1)])
def test_an_interrupted_run_cleans_up_and_a_killed_one_leaves_orphans(tmp_path, monkeypatch, signal_number, folders):
    with run_script(tmp_path, SCRIPT) as process:
        owner = identity(process.pid)
        assert orphan_counts(owner, tmp_path) == (4, 1)
        process.send_signal(signal_number)
    # (Another run on this machine may have removed the processes already, but it does not see the folder.)
    assert orphan_counts(owner, tmp_path)[1] == folders
    if signal_number == signal.SIGINT:
        assert orphan_counts(owner, tmp_path) == (0, 0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    orphans.remove()
    assert orphan_counts(owner, tmp_path) == (0, 0)
