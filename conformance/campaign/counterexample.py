"""Which violation to shrink, what comes of it, and how often that fails."""

from collections.abc import Iterable, Mapping
from itertools import islice
from time import monotonic
from typing import TypeAlias

from attrs import evolve, frozen
from hypothesis.strategies import SearchStrategy

from conformance.campaign.events import CaseSize, Examined, FailureRate, Guarantee, Judged, Shrunk
from conformance.campaign.examine import PATIENCE, RUNS, as_one
from conformance.campaign.plan import Plan
from conformance.campaign.results import COUNTEREXAMPLES
from conformance.campaign.shrink import FailureOracle, smallest, weight
from conformance.case import Case
from conformance.codec import digest
from conformance.generators.parts import ALL_OF_IT, parts
from conformance.judge.verdict import Finding
from conformance.observation import Observations

LEAST_RUNS = 3
"""How often a counterexample is run to know its rate, however long that takes."""

RATING_SECONDS = 60.0


Shrinker: TypeAlias = tuple[SearchStrategy[Case], bytes]
"""What Hypothesis draws from, and the bytes of which it makes the case to begin with."""


@frozen
class ShrunkCase:
    """A counterexample, where it comes from, and how often it fails."""

    case: Case
    rate: FailureRate
    findings: tuple[Finding, ...]
    seen: Observations | None
    """What was seen the last time it failed; None if that was in the campaign itself."""
    origin: Judged
    before: CaseSize
    sinks_only: bool
    runs: int

    def event(self, number: int, guarantee: Guarantee) -> Shrunk:
        """The same as the counterexample of so many."""
        return Shrunk(
            guarantee=guarantee,
            index=self.origin.index,
            id=self.origin.id,
            file=f"{COUNTEREXAMPLES}/{number}.json",
            digest=digest(self.case),
            rate=self.rate,
            sinks_only=self.sinks_only,
            before=self.before,
            after=size(self.case),
            runs=self.runs,
            findings=self.findings,
        )


def size(case: Case) -> CaseSize:
    """How large a case is."""
    events = sum(len(epoch) for epochs in case.inputs.values() for epoch in epochs)
    return CaseSize(len(case.graph.tasks), case.epochs, events, len(case.failures))


def best_start(
    violations: Iterable[tuple[Judged, Examined | None]], cases: Mapping[int, Case]
) -> tuple[Judged, Examined | None]:
    """
    Where to shrink from: a generated case before one of the corpus, which is as small as its author could make it; one
    that fails every time before one that does not; then the smallest (of these `cases`), from which the way is the
    shortest.
    """

    def order(violation: tuple[Judged, Examined | None]) -> tuple[bool, bool, tuple[int, int], int]:
        judged, examined = violation
        is_generated = judged.id.startswith("generated-")
        return (not is_generated, not _is_steady(examined), weight(cases[judged.index]), judged.index)

    return min(violations, key=order)


def _is_steady(examined: Examined | None) -> bool:
    return examined is not None and examined.alone.failed == examined.alone.runs


def counterexample(
    plan: Plan, batch: int, oracle: FailureOracle, origin: Judged, examined: Examined | None
) -> ShrunkCase:
    """
    The smallest case that comes of a violation, and how often it fails.

    One that failed only among others is those others with it, as one case. One that fails now and then is kept as it
    came, if nothing smaller fails at least half as often.
    """
    planned = next(islice(plan, origin.index, None))
    start = planned.case
    ways: list[Shrinker] = []
    if examined is not None and examined.batch is not None and examined.batch.failed > 0:
        first = origin.index - origin.index % batch
        start = as_one(oracle.bench.description, list(islice(plan, first, first + batch))) or start
    elif planned.number is not None:
        ways = [(plan.strategy, plan.numbered.entropy(planned.number))]
    oracle.steady = _is_steady(examined)
    if origin.sinks_only and not oracle.breaks(oracle.run(start)[0]):
        # It takes the engine without taps to show it.
        oracle = evolve(oracle, sinks_only=True, known={})
    # What it is made of is taken away first, as that is the quickest; then what was drawn is made simpler.
    ways.insert(0, (parts(start), ALL_OF_IT))
    small = _smallest(oracle, ways)
    if small is None and oracle.steady:
        # It did fail alone, but it does not every time.
        oracle = evolve(oracle, steady=False, known={})
        small = _smallest(oracle, ways)
    tried = [(case, *_rated(oracle, case, origin.findings)) for case in ([small] if small is not None else [])]
    if not tried or tried[0][1].failed < tried[0][1].runs:
        tried.append((start, *_rated(oracle, start, origin.findings)))
    best = max(rate.share for _, rate, *_ in tried)
    case, rate, findings, seen = next(each for each in tried if each[1].share >= best / 2)
    if not rate.failed:
        # It was seen, if never again.
        case, rate = start, FailureRate(1, rate.runs + 1)
    return ShrunkCase(case, rate, findings, seen, origin, size(start), oracle.sinks_only, oracle.runs)


def _smallest(oracle: FailureOracle, ways: Iterable[Shrinker]) -> Case | None:
    """The smallest failing case that any way comes to."""
    found = [smallest(strategy, entropy, oracle.fails) for strategy, entropy in ways]
    return min((case for case in found if case is not None), key=weight, default=None)


def _rated(
    oracle: FailureOracle, case: Case, origin: tuple[Finding, ...]
) -> tuple[FailureRate, tuple[Finding, ...], Observations | None]:
    """How often a case fails, what was wrong the last time it did (`origin`, if it never does), and what was seen."""
    if oracle.guarantee == "liveness":
        patient = evolve(oracle, bench=evolve(oracle.bench, deadline=oracle.bench.deadline * PATIENCE))
        ruling, seen = patient.run(case)
        return FailureRate(int(patient.breaks(ruling)), 1), ruling.findings, seen
    until = monotonic() + RATING_SECONDS
    failed, findings, shown = 0, origin, None
    for run in range(1, RUNS + 1):
        ruling, seen = oracle.run(case)
        if oracle.breaks(ruling):
            failed, findings, shown = failed + 1, ruling.findings, seen
        if run >= LEAST_RUNS and monotonic() > until:
            break
    return FailureRate(failed, run), findings, shown
