"""
From a case that breaks a guarantee to the smallest that does, against the engine itself.

Hypothesis shrinks. Its public entry for fuzzers takes the very bytes that the case was made from, finds that the case
fails and remembers it; asked to repeat what it remembers, it shrinks. Every oracle it asks is one run of the engine,
or several, where only a case that fails every time will do. Each case is tried once, so Hypothesis never sees an answer
change; when the budget is used up, it is stopped.
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
"""How often in a row a case has to fail, to be taken for one that always does."""

TRIES = 5
"""How often a case may run before it counts as passing, where failures come and go."""


class StillFails(Exception):
    """Tells Hypothesis that a case is worth shrinking on."""


class Enough(BaseException):
    """Tells Hypothesis to stop: it lets through what is no Exception."""


class EngineGone(BaseException):
    """The engine cannot be run any more. Hypothesis is not to take that for a failing case."""


@define
class FailureOracle:
    """Whether a case breaks this guarantee on this engine; asked within a budget, and each case once."""

    bench: Bench
    guarantee: Guarantee
    most_runs: int
    until: float
    sinks_only: bool = False
    steady: bool = True
    runs: int = 0
    _known: dict[str, bool] = field(factory=dict)

    def fails(self, case: Case) -> bool:
        """The answer, from memory if it is there. Raises `Enough` when the budget is used up."""
        key = digest(case)
        if key not in self._known:
            if self.runs >= self.most_runs or monotonic() > self.until:
                raise Enough
            self._known[key] = self._try(case)
        return self._known[key]

    def _try(self, case: Case) -> bool:
        tries = STEADY if self.steady else TRIES
        failed = (self.breaks(self.run(case)[0]) for _ in range(tries))
        return all(failed) if self.steady else any(failed)

    def run(self, case: Case) -> tuple[RunVerdict, Observations | None]:
        """One run, and what was seen of it, if anything was."""
        self.runs += 1
        try:
            _, ruling, seen = self.bench.run(request_of(case, sinks_only=self.sinks_only, deadline=self.bench.deadline))
        except EngineUnavailable as gone:
            raise EngineGone from gone
        return ruling, seen

    def breaks(self, ruling: RunVerdict) -> bool:
        """Whether a run breaks the guarantee in oracle, and not only another one."""
        return any(broken_by(finding) == self.guarantee for finding in ruling.findings)


def smallest(strategy: SearchStrategy[Case], entropy: bytes, fails: Callable[[Case], bool]) -> Case | None:
    """The smallest failing case that Hypothesis comes to from these bytes; None if the case they make does not fail."""
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
    @seed(0)  # The same oracle shrinks the same way. (It forgets the database of settings that are below it.)
    @given(strategy)
    def try_out(case: Case) -> None:
        if fails(case):
            found.append(case)
            raise StillFails

    try:
        for attempt in (lambda: try_out.hypothesis.fuzz_one_input(entropy), try_out):  # type: ignore[attr-defined]
            with suppress(StillFails):
                attempt()
                return None
    except Enough:
        return min(found, key=weight, default=None)
    return found[-1]  # The last thing that Hypothesis does is to show the smallest once more.


def weight(case: Case) -> tuple[int, int]:
    """How large a case is, whatever it is called, where Hypothesis did not come to the end and say so itself."""
    written = json.dumps(encode_case(evolve(case, name="unnamed")))
    return len(case.graph.tasks) + len(case.failures) + len(case.holds), len(written)
