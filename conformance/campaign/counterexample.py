"""Counterexamples: which violation to shrink, the smallest case that comes of it, and how often that fails."""

from collections.abc import Iterable, Mapping
from itertools import islice
from time import monotonic
from typing import TypeAlias

from attrs import evolve, frozen
from hypothesis.strategies import SearchStrategy

from conformance.campaign.events import CaseSize, Examined, FailureRate, Guarantee, Judged, Shrunk
from conformance.campaign.examine import RUNS, convicting_deadline, merge_batch
from conformance.campaign.plan import Plan, is_generated
from conformance.campaign.results import counterexample_file
from conformance.campaign.shrink import FailureOracle, smallest, weight
from conformance.case import Case
from conformance.codec import digest
from conformance.generators.parts import ALL_OF_IT, parts
from conformance.judge.verdict import Finding
from conformance.observation import Observations

LEAST_RUNS = 3
"""The least number of runs that measure the failure rate of a counterexample."""

RATING_SECONDS = 60.0
"""After these seconds no further run is started to measure a failure rate."""


Shrinker: TypeAlias = tuple[SearchStrategy[Case], bytes]
"""A strategy for Hypothesis, and the bytes of which it makes the case to shrink."""


@frozen
class ShrunkCase:
    """A counterexample, the violation it comes from, and how often it fails."""

    case: Case
    rate: FailureRate
    findings: tuple[Finding, ...]
    seen: Observations | None
    """The observations of its last failing run; None if that was in the campaign itself."""
    origin: Judged
    before: CaseSize
    sinks_only: bool
    runs: int

    def event(self, number: int, guarantee: Guarantee) -> Shrunk:
        """Make the event, for the counterexample of this number."""
        return Shrunk(
            guarantee=guarantee,
            index=self.origin.index,
            id=self.origin.id,
            file=counterexample_file(number),
            digest=digest(self.case),
            rate=self.rate,
            sinks_only=self.sinks_only,
            before=self.before,
            after=CaseSize.of(self.case),
            runs=self.runs,
            findings=self.findings,
        )


def best_start(
    violations: Iterable[tuple[Judged, Examined | None]], cases: Mapping[int, Case]
) -> tuple[Judged, Examined | None]:
    """
    Choose the violation to shrink.

    A generated case comes before one of the corpus, which is as small as its author could make it; one that fails every
    time comes before one that does not, and a stall that was repeated before one that was not tried; then the smallest
    of `cases` comes first, because it takes the fewest runs.
    """

    def order(violation: tuple[Judged, Examined | None]) -> tuple[bool, bool, bool, tuple[int, int], int]:
        judged, examined = violation
        repeated = examined is not None and examined.stall is True
        size = weight(cases[judged.index])
        return (not is_generated(judged.id), not _is_steady(examined), not repeated, size, judged.index)

    return min(violations, key=order)


def _is_steady(examined: Examined | None) -> bool:
    return examined is not None and examined.alone.failed == examined.alone.runs


def counterexample(
    plan: Plan, batch: int, oracle: FailureOracle, origin: Judged, examined: Examined | None
) -> ShrunkCase:
    """
    Shrink a violation, and measure how often the result fails.

    A case that failed only in its batch is merged with the others of the batch. A case that fails now and then is kept
    unchanged, if nothing smaller fails at least half as often.
    """
    planned = next(islice(plan, origin.index, None))
    start = planned.case
    shrinkers: list[Shrinker] = []
    if examined is not None and examined.batch is not None and examined.batch.failed > 0:
        first = origin.index - origin.index % batch
        start = merge_batch(oracle.bench.description, list(islice(plan, first, first + batch))) or start
    elif planned.draw_number is not None:
        shrinkers = [(plan.strategy, plan.numbered.entropy(planned.draw_number))]
    oracle.steady = _is_steady(examined)
    if origin.sinks_only and not oracle.breaks(oracle.run(start)[0]):
        # The violation needs an engine without taps.
        oracle = evolve(oracle, sinks_only=True, known={})
    # Parts of the case are removed first, because that is quickest; then the drawn values are simplified.
    shrinkers.insert(0, (parts(start), ALL_OF_IT))
    small = _smallest(oracle, shrinkers)
    if small is None and oracle.steady:
        # It failed alone, but not every time.
        oracle = evolve(oracle, steady=False, known={})
        small = _smallest(oracle, shrinkers)
    tried = [(case, *_measure(oracle, case, origin.findings)) for case in ([small] if small is not None else [])]
    if not tried or tried[0][1].failed < tried[0][1].runs:
        tried.append((start, *_measure(oracle, start, origin.findings)))
    best = max(rate.share for _, rate, *_ in tried)
    case, rate, findings, seen = next(each for each in tried if each[1].share >= best / 2)
    if not rate.failed:
        # It failed in the campaign, and never again.
        case, rate = start, FailureRate(1, rate.runs + 1)
    return ShrunkCase(case, rate, findings, seen, origin, CaseSize.of(start), oracle.sinks_only, oracle.runs)


def _smallest(oracle: FailureOracle, shrinkers: Iterable[Shrinker]) -> Case | None:
    """Return the smallest failing case of all shrinkers."""
    found = [smallest(strategy, entropy, oracle.fails) for strategy, entropy in shrinkers]
    return min((case for case in found if case is not None), key=weight, default=None)


def _measure(
    oracle: FailureOracle, case: Case, origin: tuple[Finding, ...]
) -> tuple[FailureRate, tuple[Finding, ...], Observations | None]:
    """Measure how often a case fails; return also the findings (`origin` if none) and observations of the last one."""
    if oracle.guarantee == "liveness":
        patient = evolve(oracle, bench=evolve(oracle.bench, deadline=convicting_deadline(oracle.bench.deadline)))
        verdict, seen = patient.run(case)
        return FailureRate(int(patient.breaks(verdict)), 1), verdict.findings, seen
    until = monotonic() + RATING_SECONDS
    failed, findings, failing = 0, origin, None
    for run in range(1, RUNS + 1):
        verdict, seen = oracle.run(case)
        if oracle.breaks(verdict):
            failed, findings, failing = failed + 1, verdict.findings, seen
        if run >= LEAST_RUNS and monotonic() > until:
            break
    return FailureRate(failed, run), findings, failing
