"""
How many cases a minute Flink gets through: many cases in a job on a cluster that is there, against the plain way.

The plain way is PyFlink's `get_execution_environment`, and a job for each case, one after the other: a cluster is
started with the job, and ended with it. It is driven as the other is, with the same configuration. Both ways run the
same cases, whose only failures are crashes, in the same warm JVM, in one run, and take turns in it: a machine is not as
fast at one time as at another.
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
from conformance.adapters.flink.cluster import ANSWERS, MEMORY
from conformance.adapters.flink.job import Placed, build
from conformance.adapters.flink.rest import Rest
from conformance.adapters.flink.schedule import Group
from conformance.adapters.flink.setup import Setup, set_up
from conformance.case import Case
from conformance.engine import RunRequest
from conformance.generators import cases
from conformance.generators.collect import collect
from conformance.judge import Budget, Conforms, judge
from conformance.observation import EngineInfo, Observations

TURNS = 3
"""How often each way has its turn."""

TOGETHER = 120
"""Cases in one turn."""

ALONE = 15
"""So many of them one by one: enough to know, and they take long enough."""


def main() -> None:
    """Print both figures and their ratio."""
    began = time.perf_counter()
    engine = Flink([])
    try:
        description = engine.start()
        crashing = evolve(description.capabilities, failures=["crash"])
        chosen = collect(cases(capabilities=crashing), number=TURNS * TOGETHER, seed=0)
        _checked(chosen[:1], list(engine.run([RunRequest(chosen[0], seconds=600)])))
        first = time.perf_counter() - began
        _together(engine, collect(cases(capabilities=crashing), number=TOGETHER, seed=1))
        turns = [chosen[begin : begin + TOGETHER] for begin in range(0, len(chosen), TOGETHER)]
        seconds = [(_together(engine, some), _one_by_one(engine, some[:: TOGETHER // ALONE])) for some in turns]
        for shared, apart in seconds:
            print(f"  {TOGETHER} in {shared:.1f} s, {ALONE} in {apart:.1f} s")
        many = len(chosen) / sum(shared for shared, _ in seconds)
        one = TURNS * ALONE / sum(apart for _, apart in seconds)
        failing = sum(bool(case.failures) for case in chosen)
        print(
            f"flink: {len(chosen)} cases ({failing} with crashes) in shared jobs {60 * many:.0f} cases/min, "
            f"a job for each of {TURNS * ALONE} {60 * one:.0f} cases/min: {many / one:.1f} times; "
            f"the first case {first:.1f} s after the start"
        )
    finally:
        engine.stop()


def _together(engine: Flink, chosen: Sequence[Case]) -> float:
    """The seconds that cases take as a campaign gives them: a batch at a time."""
    started = time.perf_counter()
    seen = list(engine.run([RunRequest(case, seconds=600) for case in chosen]))
    seconds = time.perf_counter() - started
    _checked(chosen, seen)
    return seconds


def _one_by_one(engine: Flink, chosen: Sequence[Case]) -> float:
    """The seconds that cases take in the plain way."""
    from py4j.java_gateway import JVMView  # noqa: PLC0415

    from conformance.adapters.flink.run import Run  # noqa: PLC0415

    gateway = engine._client.gateway  # noqa: SLF001 - there is one JVM in a process that builds jobs
    known = gateway.jvm
    # Plain PyFlink does not remember names.
    gateway.jvm = JVMView(known._gateway_client, known._jvm_name, id=known._id)  # noqa: SLF001
    seconds = 0.0
    for case in chosen:
        with TemporaryDirectory() as folder:
            started = time.perf_counter()
            plain = Plain()
            run = Run(Group((RunRequest(case, seconds=600),)), set_up([]), plain, plain, Path(folder))
            run.end = plain.end
            run.go(600)
            seconds += time.perf_counter() - started
        _checked([case], list(run.observations(EngineInfo("flink"))))
    gateway.jvm = known
    return seconds


class Plain:
    """Who builds a job, and the cluster that comes and goes with it: what PyFlink has by itself."""

    groups = 1
    failures = ("crash",)
    python = sys.executable

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.rest = Rest("127.0.0.1", free.getsockname()[1])

    def submit(self, cluster: "Plain", placed: Sequence[Placed], setup: Setup, *_: object) -> str:
        from pyflink.common import Configuration  # noqa: PLC0415
        from pyflink.datastream import StreamExecutionEnvironment  # noqa: PLC0415

        given = {
            **setup.conf(placed[0].desk.folder),
            **ANSWERS,
            **MEMORY,
            "python.executable": cluster.python,
            "python.client.executable": cluster.python,
            "rest.address": self.rest.host,
            "rest.bind-address": self.rest.host,
            "rest.bind-port": str(self.rest.port),
        }
        conf = Configuration()
        for name, value in given.items():
            conf.set_string(name, value)
        environment = StreamExecutionEnvironment.get_execution_environment(conf)
        environment.set_parallelism(1)
        build(environment, placed, setup, 0)
        self._job = environment.execute_async("plain")
        return str(self._job.get_job_id())

    def end(self) -> None:
        """Cancel the job. REST goes with its cluster, and would leave who asks without an answer."""
        from py4j.protocol import Py4JJavaError  # noqa: PLC0415

        self._job.cancel().result()
        with suppress(Py4JJavaError):
            self._job.get_job_execution_result().result()


def _checked(chosen: Sequence[Case], seen: Sequence[Observations]) -> None:
    """All of them conform, and all their failures have fired."""
    for case, each in zip(chosen, seen, strict=True):
        verdict = judge(case, each, Budget(steps=150_000))
        if not isinstance(verdict, Conforms) or len(each.fired) < len(case.failures):
            raise SystemExit(f"not as it should be: {case}\n{verdict}")
