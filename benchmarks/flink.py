"""
How many cases a minute Flink gets through: many cases in a job on a cluster that is there, against a cluster for each.

The latter is what PyFlink's `get_execution_environment` does: it starts a cluster with the job, and ends it with it.
Both ways run the same cases, whose only failures are crashes, in the same warm JVM, in one run.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from attrs import evolve

from adapters.flink import Flink
from adapters.flink.schedule import Group
from adapters.flink.setup import set_up
from conformance.case import Case
from conformance.engine import Job
from conformance.judge import Budget, Conforms, judge
from conformance.observation import EngineInfo, Observations
from generators import cases
from generators.collect import collect

TOGETHER = 240
ALONE = 10
"""So many of them one by one: enough to know, and they take long enough."""


def main() -> None:
    """Print both figures and their ratio."""
    began = time.perf_counter()
    engine = Flink([])
    try:
        description = engine.start()
        crashing = evolve(description.capabilities, failures=["crash"])
        chosen = collect(cases(capabilities=crashing), number=TOGETHER, seed=0)
        _checked(chosen[:1], list(engine.run([Job(chosen[0], seconds=600)])))
        first = time.perf_counter() - began
        many = TOGETHER / _together(engine, chosen, description.batch)
        one = ALONE / _one_by_one(engine, chosen[:: TOGETHER // ALONE])
        failing = sum(bool(case.failures) for case in chosen)
        print(
            f"flink: {TOGETHER} cases ({failing} with crashes) in shared jobs {60 * many:.0f} cases/min, "
            f"a cluster for each {60 * one:.0f} cases/min: {many / one:.1f} times; "
            f"the first case {first:.1f} s after the start"
        )
    finally:
        engine.stop()


def _together(engine: Flink, chosen: Sequence[Case], batch: int) -> float:
    """The seconds that cases take as a campaign gives them: a batch at a time."""
    started = time.perf_counter()
    batches = [chosen[begin : begin + batch] for begin in range(0, len(chosen), batch)]
    seen = [each for some in batches for each in engine.run([Job(case, seconds=600) for case in some])]
    seconds = time.perf_counter() - started
    _checked(chosen, seen)
    return seconds


def _one_by_one(engine: Flink, chosen: Sequence[Case]) -> float:
    """The seconds that cases take with a cluster for each."""
    from adapters.flink.cluster import Embedded  # noqa: PLC0415
    from adapters.flink.run import Run  # noqa: PLC0415

    client = engine._client  # noqa: SLF001 - there is one JVM in a process that builds jobs
    seconds = 0.0
    for case in chosen:
        with TemporaryDirectory() as folder:
            started = time.perf_counter()
            cluster = Embedded(client)
            run = Run(Group((Job(case, seconds=600),)), set_up([]), client, cluster, Path(folder))
            run.go(600)
            cluster.stop()
            seconds += time.perf_counter() - started
        _checked([case], list(run.observations(EngineInfo("flink"))))
    return seconds


def _checked(chosen: Sequence[Case], seen: Sequence[Observations]) -> None:
    """All of them conform, and all their failures have fired."""
    for case, each in zip(chosen, seen, strict=True):
        verdict = judge(case, each, Budget(steps=150_000))
        if not isinstance(verdict, Conforms) or len(each.fired) < len(case.failures):
            raise SystemExit(f"not as it should be: {case}\n{verdict}")
