"""The real Flink, as processes of this machine."""

import re
import signal
import tempfile
from itertools import count

import psutil
import pytest
from attrs import evolve

from conformance.adapters import orphans
from conformance.adapters.supervisor import OWNER, identity
from conformance.case import PHASES, Crash, Kill, Partition
from conformance.engine import RunRequest
from conformance.generators import cases, corpus
from conformance.generators.collect import collect
from conformance.judge import Budget, Conforms, judge
from tests.flink.struck import CASE, EVIDENCE, failing, running, seen_of, suite_in

pytestmark = pytest.mark.flink


@pytest.fixture(scope="module")
def flink():
    with running("processes") as both:
        yield both


def java_of(owner):
    """The Java processes that somebody has to end, which have listened to nobody beyond this machine."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(OWNER) == owner and "java" in process.name():
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def test_it_is_a_zookeeper_a_coordinator_and_two_workers_and_all_listen_on_loopback_only(flink):
    _, description = flink
    assert description.capabilities.failures == {"crash", "restart", "kill"}
    assert description.capabilities.unsupported(evolve(CASE, failures=(Partition("worker", 1, 1),)))
    parts = java_of(orphans.owner())
    assert len(parts) == 4
    listening = [each.laddr.ip for part in parts for each in part.net_connections("inet") if each.status == "LISTEN"]
    assert listening
    assert {address.removeprefix("::ffff:") for address in listening} == {"127.0.0.1"}


def test_cases_without_kills_conform(flink):
    engine, _ = flink
    given = [case for case in corpus().values() if all(isinstance(each, Crash) for each in case.failures)][:6]
    for case, seen in zip(given, engine.run([RunRequest(case, seconds=300) for case in given]), strict=True):
        assert seen.end == "completed", seen.message
        assert len(seen.fired) == len(case.failures)
        assert isinstance(judge(case, seen, Budget(steps=150_000)), Conforms)


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("standby", ["with a standby", "without a standby"])
def test_a_worker_is_killed_in_every_phase_with_and_without_a_standby(flink, phase, standby):
    from conformance.adapters.flink.violence import has_standby  # noqa: PLC0415 - only here is Flink there for sure

    engine, _ = flink
    case = failing("worker", phase)
    seed = next(seed for seed in count() if has_standby(RunRequest(case, seed=seed)) == (standby == "with a standby"))
    told = seen_of(engine, case, seed).fired[-1].evidence
    assert re.fullmatch(rf"SIGKILL of worker-\d+ \(process \d+\), {standby}, when {EVIDENCE[phase]}", told), told


@pytest.mark.parametrize("phase", PHASES)
def test_the_coordinator_is_killed_in_every_phase_and_another_one_takes_over(flink, phase):
    engine, _ = flink
    told = seen_of(engine, failing("coordinator", phase)).fired[-1].evidence
    assert re.fullmatch(rf"SIGKILL of coordinator-\d+ \(process \d+\) when {EVIDENCE[phase]}", told), told


def test_kills_follow_each_other(flink):
    engine, _ = flink
    failures = (
        Kill("worker", 1),
        Kill("coordinator", 1, "recovery"),
        Kill("worker", 2, "commit"),
        Crash("first", 3, 0),
    )
    seen_of(engine, evolve(CASE, failures=failures))


def test_generated_cases_with_kills_conform(flink):
    engine, description = flink
    drawn = collect(cases(capabilities=description.capabilities), number=60, seed=11)
    given = [case for case in drawn if any(isinstance(each, Kill) for each in case.failures)][:3]
    assert len(given) == 3
    for case in given:
        seen_of(engine, case)


SUITE = """
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


def count_left(identity, tmp_path):
    return len(java_of(identity)), len(list(tmp_path.glob("flink-*")))


@pytest.mark.parametrize(("way", "folders"), [(signal.SIGINT, 0), (signal.SIGKILL, 1)])
def test_nothing_is_left_of_a_run_that_is_interrupted_and_the_next_removes_what_is_left_of_one_that_was_killed(
    tmp_path, monkeypatch, way, folders
):
    with suite_in(tmp_path, SUITE) as suite:
        its = identity(suite.pid)
        assert count_left(its, tmp_path) == (4, 1)
        suite.send_signal(way)
    # (Another run on this machine may have ended the processes already; the folder is where only we look.)
    assert count_left(its, tmp_path)[1] == folders
    if way == signal.SIGINT:
        assert count_left(its, tmp_path) == (0, 0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    orphans.remove()
    assert count_left(its, tmp_path) == (0, 0)
