"""
Shrinking: from a case that breaks a guarantee to the smallest that does, tried on the engine itself.

Hypothesis shrinks. Its public entry for fuzzers takes the bytes that the case was made from, finds that the case fails
and saves it; when Hypothesis reuses what it saved, it shrinks. Every case that it tries is one run of the engine, or
several, if only a case that fails every time will do. Each case is tried once, so Hypothesis never sees an answer
change. When the budget is used up, Hypothesis is stopped.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from time import monotonic

from attrs import define, evolve, field
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.database import InMemoryExampleDatabase
from hypothesis.strategies import SearchStrategy

from conformance.campaign.events import Guarantee, broken_by
from conformance.campaign.examine import Bench
from conformance.campaign.judging import RunVerdict
from conformance.campaign.plan import request_of
from conformance.case import Case
from conformance.codec import digest, encode_case
from conformance.errors import EngineUnavailable
from conformance.observation import Observations

STEADY = 3
"""The number of runs in a row in which a steady case has to fail."""

TRIES = 5
"""The number of runs after which a case that fails now and then counts as passing."""


class StillFails(Exception):
    """A signal to Hypothesis that a case fails, so it is worth shrinking."""


class BudgetUsed(BaseException):
    """A signal to Hypothesis to stop. It does not catch what is no Exception."""


class EngineGone(BaseException):
    """The engine cannot be run any more. No Exception, because Hypothesis would take it for a failing case."""


@define
class FailureOracle:
    """Decides whether a case breaks a guarantee on an engine, within a budget. Each case is tried once."""

    bench: Bench
    guarantee: Guarantee
    most_runs: int
    until: float
    sinks_only: bool = False
    steady: bool = True
    runs: int = 0
    _known: dict[str, bool] = field(factory=dict)

    def fails(self, case: Case) -> bool:
        """Tell whether a case fails, from memory if it was tried before. Raises `BudgetUsed`."""
        key = digest(case)
        if key not in self._known:
            if self.runs >= self.most_runs or monotonic() > self.until:
                raise BudgetUsed
            self._known[key] = self._try(case)
        return self._known[key]

    def _try(self, case: Case) -> bool:
        tries = STEADY if self.steady else TRIES
        failed = (self.breaks(self.run(case)[0]) for _ in range(tries))
        return all(failed) if self.steady else any(failed)

    def run(self, case: Case) -> tuple[RunVerdict, Observations | None]:
        """Run a case once; return its verdict and its observations, if there are any."""
        self.runs += 1
        try:
            _, verdict, seen = self.bench.run(
                request_of(case, sinks_only=self.sinks_only, deadline=self.bench.deadline)
            )
        except EngineUnavailable as gone:
            raise EngineGone from gone
        return verdict, seen

    def breaks(self, verdict: RunVerdict) -> bool:
        """Tell whether a run breaks this guarantee, and not only another one."""
        return any(broken_by(finding) == self.guarantee for finding in verdict.findings)


def smallest(strategy: SearchStrategy[Case], entropy: bytes, fails: Callable[[Case], bool]) -> Case | None:
    """Shrink the case that is made of these bytes; return None if it does not fail."""
    found: list[Case] = []

    @settings(
        database=InMemoryExampleDatabase(),
        phases=(Phase.reuse, Phase.shrink),
        deadline=None,
        max_examples=1,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
        print_blob=False,
        report_multiple_bugs=False,
    )
    @seed(0)  # The same case shrinks the same way. (`seed` forgets the database of settings below it.)
    @given(strategy)
    def try_case(case: Case) -> None:
        if fails(case):
            found.append(case)
            raise StillFails

    try:
        for attempt in (lambda: try_case.hypothesis.fuzz_one_input(entropy), try_case):  # type: ignore[attr-defined]
            with suppress(StillFails):
                attempt()
                return None
    except BudgetUsed:
        return min(found, key=weight, default=None)
    return found[-1]  # At its end, Hypothesis runs the smallest case once more.


def weight(case: Case) -> tuple[int, int]:
    """Return a measure of the size of a case, without its name, to choose the smallest if Hypothesis was stopped."""
    written = json.dumps(encode_case(evolve(case, name="unnamed")))
    return len(case.graph.tasks) + len(case.failures) + len(case.holds), len(written)
