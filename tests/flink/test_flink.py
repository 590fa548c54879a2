"""A real Flink, in a MiniCluster."""

import tempfile
import threading
import time
from contextlib import contextmanager
from typing import NamedTuple

import psutil
import pytest
from attrs import evolve

from conformance.adapters.subprocess_engine import SubprocessEngine
from conformance.branches import split_keyed_sums
from conformance.case import Crash, Restart
from conformance.engine import RunRequest
from conformance.generators import cases, corpus
from conformance.generators.collect import collect
from conformance.judge import Budget, Conforms, Violates, judge

pytestmark = pytest.mark.flink


@contextmanager
def running(*settings):
    """Start embedded Flink in a process of its own, because a process has one JVM that builds jobs."""
    engine = SubprocessEngine(f"flink:{','.join(['embedded', *settings])}")
    try:
        yield engine, engine.start()
    finally:
        engine.stop()


@pytest.fixture(scope="module")
def flink():
    """A running engine and its description."""
    with running() as both:
        yield both


def judged(engine, given_cases):
    """Run cases, check that all failures have happened and were followed by an observation, and judge them."""
    requests = [RunRequest(case, seconds=120) for case in given_cases]
    for case, seen in zip(given_cases, engine.run(requests), strict=True):
        assert seen.end == "completed", (case, seen.message)
        assert [fired.failure for fired in seen.fired] == list(range(len(case.failures))), (case, seen.fired)
        for fired in seen.fired:
            assert fired.before < len(seen.observations), "no observation follows a failure"
        yield case, judge(case, seen, Budget(steps=150_000)), seen


def supported(description, given_cases):
    return [case for case in given_cases if not description.capabilities.unsupported(case)]


def drawn(description, number, seed):
    return collect(cases(capabilities=description.capabilities), number=number, seed=seed)


def test_the_corpus_conforms_and_all_its_failures_happen(flink):
    engine, description = flink
    found = list(judged(engine, supported(description, corpus().values())))
    assert len(found) >= 30
    for case, verdict, _ in found:
        assert isinstance(verdict, Conforms), (case.name, verdict)


def test_generated_cases_conform(flink):
    engine, description = flink
    given_cases = drawn(description, 60, seed=3)
    assert sum(bool(case.failures) for case in given_cases) >= 30
    for case, verdict, _ in judged(engine, given_cases):
        assert isinstance(verdict, Conforms), (case, verdict)


def test_several_crashes_in_one_epoch_and_a_restart(flink):
    engine, _ = flink
    failures = (
        Crash("first", 2, 1),
        Crash("third", 2, "border"),
        Crash("first", 2, 0),
        Restart(2),
        Crash("second", 3, 0),
    )
    case = evolve(corpus()["paper-observed-execution"], failures=failures, holds=())
    ((_, verdict, seen),) = judged(engine, [case])
    assert isinstance(verdict, Conforms), verdict
    evidence = [fired.evidence for fired in seen.fired]
    assert "an exception in first in epoch 2, before event 1" in evidence[0]
    assert "an exception in third in epoch 2, before its border" in evidence[1]
    assert "stopped with a savepoint when epoch 2 was committed" in evidence[3]


@pytest.mark.parametrize("name", ["misaligned-border-without-failure", "misaligned-border"])
def test_at_least_once_violates_cases_that_hold_a_task_back_every_time(name):
    with running("at-least-once") as (engine, _):
        for _, verdict, _ in judged(engine, [corpus()[name]] * 5):
            assert isinstance(verdict, Violates)
            assert verdict.findings[0].diagnosis == "misaligned"


def test_at_least_once_duplicates_early_events_after_a_failure():
    with running("at-least-once") as (engine, _):
        ((_, verdict, _),) = judged(engine, [corpus()["misaligned-border-counted-again"]])
        assert isinstance(verdict, Violates)
        assert [finding.diagnosis for finding in verdict.findings] == ["misaligned", "duplicated"], verdict
        assert verdict.guarantee == "at-least-once"


@pytest.mark.full
def test_at_least_once_violates_one_of_50_generated_cases():
    with running("at-least-once") as (engine, description):
        given_cases = [evolve(case, name=str(number)) for number, case in enumerate(drawn(description, 50, seed=0))]
        violating = [case.name for case, verdict, _ in judged(engine, given_cases) if isinstance(verdict, Violates)]
        assert violating


def test_unaligned_checkpoints_conform_unless_claimed_as_aligned():
    names = ("misaligned-border-without-failure", "misaligned-border", "unequal-diamond", "paper-alignment")
    given_cases = [corpus()[name] for name in names]
    with running("unaligned") as (engine, description):
        assert description.snapshots == "unaligned"
        found = list(judged(engine, given_cases + drawn(description, 8, seed=1)))
        for case, verdict, _ in found:
            assert isinstance(verdict, Conforms), (case, verdict)
        assert any(seen.in_flight for _, _, seen in found), "nothing was in flight in any of them"
        claims = [evolve(seen, snapshots="aligned") for _, _, seen in found[: len(names)]]
        verdicts = [judge(case, claim) for case, claim in zip(given_cases, claims, strict=True)]
        assert any(isinstance(verdict, Violates) for verdict in verdicts)


@pytest.mark.full
@pytest.mark.parametrize("setting", ["rocksdb", "own-epochs", "parallel"])
def test_every_other_setting_conforms(setting):
    with running(setting) as (engine, description):
        given_cases = drawn(description, 16, seed=5)
        assert any(case.failures for case in given_cases)
        requests = [description.with_required_streams(RunRequest(case, seconds=120)) for case in given_cases]
        for request, seen in zip(requests, engine.run(requests), strict=True):
            assert seen.end == "completed", seen.message
            assert isinstance(judge(request.case, seen, Budget(steps=150_000)), Conforms), request.case


@pytest.mark.full
def test_keys_move_between_subtasks_in_a_restart():
    case = split_keyed_sums(evolve(corpus()["keyed-state-partly-restored"], failures=(Crash("keys", 2, 1), Restart(2))))
    with running("parallel") as (engine, description):
        assert description.capabilities.branches
        ((_, verdict, seen),) = judged(engine, [case])
        assert isinstance(verdict, Conforms), verdict
        assert {"sums-0", "sums-1", "sums-2"} <= seen.observed


def test_two_epochs_are_in_flight_in_half_of_the_cases_with_several(flink):
    engine, description = flink
    given_cases = [case for case in drawn(description, 40, seed=6) if case.epochs > 1]
    overlapped = [seen.overlapped for _, _, seen in judged(engine, given_cases)]
    assert sum(map(bool, overlapped)) >= len(given_cases) / 2


@pytest.mark.full
def test_300_cases_with_failures_complete_and_leave_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    this = psutil.Process()
    before = set(this.children(recursive=True)), threading.active_count()
    with running() as (engine, description):
        during = set(this.children(recursive=True))
        (java,) = [process for process in during - before[0] if "java" in process.name()]
        given_cases = [case for case in drawn(description, 700, seed=8) if case.failures][:300]
        held = []
        for begin in range(0, 300, 100):
            found = list(judged(engine, given_cases[begin : begin + 100]))
            assert len(found) == 100
            for case, verdict, _ in found:
                assert not isinstance(verdict, Violates), (case, verdict)
            held.append(held_resources(java, tmp_path))
        first, *others = held
        for each in others:
            assert each.threads <= first.threads + ROOM, held
            assert each.files <= first.files + ROOM, held
            assert each.folders == first.folders, held
    assert (set(this.children(recursive=True)), threading.active_count()) == before
    assert not any(process.is_running() for process in during - before[0])
    assert list(tmp_path.iterdir()) == []


class Held(NamedTuple):
    """Resources of Flink's JVM, and the folders of jobs."""

    threads: int
    files: int
    folders: list


ROOM = 30
"""Java keeps threads, and starts one more now and then. A leak of one thread a case would be 100 more each time."""


def held_resources(java, folder):
    """Return the least of each resource within three seconds, in which jobs release theirs."""
    seen = []
    for _ in range(30):
        seen.append(Held(java.num_threads(), java.num_fds(), sorted(folder.glob("flink-*/jobs/*"))))
        time.sleep(0.1)
    return Held(*map(min, zip(*seen, strict=True)))
