"""
Cases a minute on Flink: shared jobs on a running cluster, compared with one PyFlink environment for each case.

The baseline is PyFlink's `get_execution_environment`, with a job for each case, one after the other: a cluster starts
and ends with the job. Both have the same driver and configuration, and run the same cases, whose only failures are
crashes, in the same warm JVM and in one run. They take turns in it, because a machine's speed changes over time.
"""

import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from attrs import evolve

from conformance.adapters.flink import Flink
from conformance.adapters.flink.cluster import MEMORY_SETTINGS, REST_SETTINGS
from conformance.adapters.flink.deployment import CaseDeployment
from conformance.adapters.flink.job import build_job
from conformance.adapters.flink.rest import RestClient
from conformance.adapters.flink.schedule import JobGroup
from conformance.adapters.flink.setup import FlinkSetup, set_up
from conformance.case import Case
from conformance.engine import RunRequest
from conformance.generators import cases
from conformance.generators.collect import collect
from conformance.judge import Budget, Conforms, judge
from conformance.observation import EngineInfo, Observations

TURNS = 3
"""Turns of each."""

SHARED_CASES = 120
"""Cases in a turn of shared jobs."""

BASELINE_CASES = 15
"""Cases of them in a turn of the baseline, which takes much longer for each."""


def main() -> None:
    """Print both figures and their ratio."""
    started = time.perf_counter()
    engine = Flink([])
    try:
        description = engine.start()
        crashing = evolve(description.capabilities, failures=["crash"])
        chosen = collect(cases(capabilities=crashing), number=TURNS * SHARED_CASES, seed=0)
        _check(chosen[:1], list(engine.run([RunRequest(chosen[0], seconds=600)])))
        first = time.perf_counter() - started
        _run_shared(engine, collect(cases(capabilities=crashing), number=SHARED_CASES, seed=1))
        turns = [chosen[begin : begin + SHARED_CASES] for begin in range(0, len(chosen), SHARED_CASES)]
        seconds = [
            (_run_shared(engine, turn), _run_baseline(engine, turn[:: SHARED_CASES // BASELINE_CASES]))
            for turn in turns
        ]
        for shared, baseline in seconds:
            print(f"  {SHARED_CASES} in {shared:.1f} s, {BASELINE_CASES} in {baseline:.1f} s")
        many = len(chosen) / sum(shared for shared, _ in seconds)
        one = TURNS * BASELINE_CASES / sum(baseline for _, baseline in seconds)
        failing = sum(bool(case.failures) for case in chosen)
        print(
            f"flink: {len(chosen)} cases ({failing} with crashes) in shared jobs {60 * many:.0f} cases/min, "
            f"a job for each of {TURNS * BASELINE_CASES} {60 * one:.0f} cases/min: {many / one:.1f} times; "
            f"the first case {first:.1f} s after the start"
        )
    finally:
        engine.stop()


def _run_shared(engine: Flink, chosen: Sequence[Case]) -> float:
    """Run cases as a campaign does, a batch at a time, and return the seconds."""
    started = time.perf_counter()
    seen = list(engine.run([RunRequest(case, seconds=600) for case in chosen]))
    seconds = time.perf_counter() - started
    _check(chosen, seen)
    return seconds


def _run_baseline(engine: Flink, chosen: Sequence[Case]) -> float:
    """Run each case in an environment of its own, and return the seconds."""
    from py4j.java_gateway import JVMView  # noqa: PLC0415

    from conformance.adapters.flink.job_run import JobRun  # noqa: PLC0415

    gateway = engine._client.gateway  # noqa: SLF001 - a process has one JVM that builds jobs
    cached = gateway.jvm
    # Plain PyFlink does not cache names.
    gateway.jvm = JVMView(cached._gateway_client, cached._jvm_name, id=cached._id)  # noqa: SLF001
    seconds = 0.0
    for case in chosen:
        with TemporaryDirectory() as folder:
            started = time.perf_counter()
            plain = PlainFlink()
            group = JobGroup({0: RunRequest(case, seconds=600)})
            job = JobRun(group, set_up([]), plain, plain, Path(folder))
            job.cancel = plain.cancel
            job.run_until(time.monotonic() + 600)
            seconds += time.perf_counter() - started
        _check([case], [seen for _, seen in job.observations(EngineInfo("flink"))])
    gateway.jvm = cached
    return seconds


class PlainFlink:
    """Client and cluster as PyFlink has them by itself: the cluster starts and ends with its job."""

    slot_groups = 1
    failures = ("crash",)
    python = sys.executable

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.rest = RestClient("127.0.0.1", free.getsockname()[1])

    def submit(self, cluster: "PlainFlink", cases: Sequence[CaseDeployment], setup: FlinkSetup, *_: object) -> str:
        from pyflink.common import Configuration  # noqa: PLC0415
        from pyflink.datastream import StreamExecutionEnvironment  # noqa: PLC0415

        settings = {
            **setup.conf(cases[0].channel.folder),
            **REST_SETTINGS,
            **MEMORY_SETTINGS,
            "python.executable": cluster.python,
            "python.client.executable": cluster.python,
            "rest.address": self.rest.host,
            "rest.bind-address": self.rest.host,
            "rest.bind-port": str(self.rest.port),
        }
        conf = Configuration()
        for name, value in settings.items():
            conf.set_string(name, value)
        environment = StreamExecutionEnvironment.get_execution_environment(conf)
        environment.set_parallelism(1)
        build_job(environment, cases, setup, restarts=0, slot_groups=1)
        self._job = environment.execute_async("plain")
        return str(self._job.get_job_id())

    def cancel(self) -> None:
        """Cancel the job, without REST, which ends with the cluster."""
        from py4j.protocol import Py4JJavaError  # noqa: PLC0415

        self._job.cancel().result()
        with suppress(Py4JJavaError):
            self._job.get_job_execution_result().result()


def _check(chosen: Sequence[Case], seen: Sequence[Observations]) -> None:
    """Check that all cases conform, and that all their failures have fired."""
    for case, each in zip(chosen, seen, strict=True):
        verdict = judge(case, each, Budget(steps=150_000))
        if not isinstance(verdict, Conforms) or len(each.fired) < len(case.failures):
            raise SystemExit(f"a case does not conform: {case}\n{verdict}")
