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

CASES = (50, 100, 300)
SINGLE_CASES = 10
"""The number of cases that run one by one, which takes long."""


def main() -> None:
    """Print both figures and their ratio, for batches of several sizes."""
    engine = Spark([])
    try:
        description = engine.start()
        crashing = evolve(description.capabilities, failures=["crash"])
        # Cases that always need a query of their own are left out.
        drawn = collect(cases(capabilities=crashing), number=2 * max(CASES), seed=0)
        shared = [case for case in drawn if engine.shares(case)]
        _run(engine, shared[:2], in_one_query=True)
        for number in CASES:
            chosen = shared[:number]
            cases_per_second = number / _run(engine, chosen, in_one_query=True)
            single_per_second = SINGLE_CASES / _run(engine, chosen[:: number // SINGLE_CASES], in_one_query=False)
            failing = sum(bool(case.failures) for case in chosen)
            print(
                f"spark: {number} cases ({failing} with crashes) in one query {60 * cases_per_second:.0f} cases/min, "
                f"a query for each {60 * single_per_second:.0f} cases/min: "
                f"{cases_per_second / single_per_second:.1f} times",
                flush=True,
            )
    finally:
        engine.stop()


def _run(engine: Spark, chosen: Sequence[Case], *, in_one_query: bool) -> float:
    """Return the seconds that cases take; check that they conform and that all their failures fired."""
    started = time.perf_counter()
    requests = [RunRequest(case, seconds=600) for case in chosen]
    seen = (
        list(engine.run(requests)) if in_one_query else [one for request in requests for one in engine.run([request])]
    )
    seconds = time.perf_counter() - started
    for case, each in zip(chosen, seen, strict=True):
        verdict = judge(case, each, Budget(steps=150_000))
        if not isinstance(verdict, Conforms) or len(each.fired) < len(case.failures):
            raise SystemExit(f"a case does not conform, or not all its failures fired: {case}\n{verdict}")
    return seconds
