"""
The cases per minute on Spark: many cases in one query, compared with a query for each case.

Both run the same cases, whose only failures are crashes, on the same warm driver.
"""

import time
from collections.abc import Sequence

from attrs import evolve

from conformance.adapters.spark import Spark
from conformance.case import Case
from conformance.engine import RunRequest
from conformance.generators import cases
from conformance.generators.collect import collect
from conformance.judge import Budget, Conforms, judge

TOGETHER = (50, 100, 300)
ALONE = 10
"""The number of cases that run one by one, which takes long."""


def main() -> None:
    """Print both figures and their ratio, for batches of several sizes."""
    engine = Spark([])
    try:
        description = engine.start()
        crashing = evolve(description.capabilities, failures=["crash"])
        # Cases that always need a query of their own are left out.
        drawn = collect(cases(capabilities=crashing), number=2 * max(TOGETHER), seed=0)
        shared = [case for case in drawn if engine.shares(case)]
        _run(engine, shared[:2], together=True)
        for number in TOGETHER:
            chosen = shared[:number]
            many = number / _run(engine, chosen, together=True)
            one = ALONE / _run(engine, chosen[:: number // ALONE], together=False)
            failing = sum(bool(case.failures) for case in chosen)
            print(
                f"spark: {number} cases ({failing} with crashes) in one query {60 * many:.0f} cases/min, "
                f"a query for each {60 * one:.0f} cases/min: {many / one:.1f} times",
                flush=True,
            )
    finally:
        engine.stop()


def _run(engine: Spark, chosen: Sequence[Case], *, together: bool) -> float:
    """Return the seconds that cases take; check that they conform and that all their failures fired."""
    started = time.perf_counter()
    requests = [RunRequest(case, seconds=600) for case in chosen]
    seen = list(engine.run(requests)) if together else [one for request in requests for one in engine.run([request])]
    seconds = time.perf_counter() - started
    for case, each in zip(chosen, seen, strict=True):
        verdict = judge(case, each, Budget(steps=150_000))
        if not isinstance(verdict, Conforms) or len(each.fired) < len(case.failures):
            raise SystemExit(f"a case does not conform, or not all its failures fired: {case}\n{verdict}")
    return seconds
