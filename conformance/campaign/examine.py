"""
Examination of a violation, before it convicts an engine.

The case is run alone, because a case beside it may have been the cause. The run is judged on its sinks alone, because
taps have a fault tolerance of their own. The case is run without its failures, because recovery is not the cause of a
violation without any. A stall is only a suspicion: it has to repeat, alone on the machine, with ten times the
deadline, and at least a minute: with a deadline that is too short for every run, a stall says nothing.
"""

from collections.abc import Sequence

from attrs import evolve, frozen

from conformance.adapters.stdio import Stdio
from conformance.campaign.artifacts import Artifacts, is_failure
from conformance.campaign.batch_runner import run_with_restarts
from conformance.campaign.events import STALLED, Examined, FailureRate, Judged, Outcome
from conformance.campaign.judging import RunVerdict, judge_outcome, judge_sinks
from conformance.campaign.merge import merge
from conformance.campaign.plan import Planned, request_of
from conformance.case import Case
from conformance.codec import digest
from conformance.engine import Description, RunRequest
from conformance.errors import EngineFailed, Malformed
from conformance.observation import Observations

STALLS_TRIED = 3
"""Stalls that are repeated. Each may take ten times the deadline, and one that repeats is enough."""

RUNS = 20
"""The number of runs of a violation that does not repeat in the first one."""

BATCH_RUNS = 5
STALL_FACTOR = 10
"""The factor of the deadline after which a stall convicts."""

STALL_SECONDS = 60.0
"""The least number of seconds after which a stall convicts."""


def convicting_deadline(deadline: float) -> float:
    """Return the deadline of a run whose stall convicts."""
    return max(deadline * STALL_FACTOR, STALL_SECONDS)


@frozen
class Bench:
    """An engine for single runs."""

    engine: Stdio
    description: Description
    deadline: float
    artifacts: Artifacts

    def run(self, request: RunRequest) -> tuple[Outcome, RunVerdict, Observations | None]:
        """Run a request and judge the run."""
        (answer,) = run_with_restarts(self.engine, self.description, [self.description.with_required_streams(request)])
        if isinstance(answer, EngineFailed):
            return "error", RunVerdict("inconclusive", str(answer)), None
        kind, verdict = judge_outcome(request.case, answer)
        self.artifacts.hold(digest(request.case), failed=is_failure(kind, answer))
        return kind, verdict, answer


def is_unsafe(verdict: RunVerdict) -> bool:
    """Tell whether the run shows wrong output, and does not only stall."""
    return any(finding.diagnosis != STALLED for finding in verdict.findings)


def is_stalled(verdict: RunVerdict | Judged) -> bool:
    """Tell whether the run stalls: output is missing at its end."""
    return any(finding.diagnosis == STALLED for finding in verdict.findings)


def examine(
    bench: Bench, planned: Planned, judged: Judged, seen: Observations, batch: list[Planned], stalls: Sequence[bool]
) -> Examined:
    """Examine one violation. `stalls` tells of each stall that was tried so far whether it repeated."""
    case, request = planned.case, planned.request(bench.deadline)
    only_stalls = all(finding.diagnosis == STALLED for finding in judged.findings)
    stall = None
    if is_stalled(judged) and len(stalls) < STALLS_TRIED and not any(stalls):
        _, verdict, _ = bench.run(evolve(request, seconds=convicting_deadline(request.seconds)))
        stall = is_stalled(verdict)
    convicts = bool(not only_stalls or stall or any(stalls))
    alone = FailureRate(0, 0) if only_stalls else repeat(bench, request, RUNS)
    batch_rate = None
    if alone.runs and not alone.failed and (merged_batch := merge_batch(bench.description, batch)) is not None:
        batch_rate = repeat(bench, request_of(merged_batch, sinks_only=False, deadline=bench.deadline), BATCH_RUNS)
    without_failures = bench.run(evolve(request, case=evolve(case, failures=())))[0] if convicts else None
    return Examined(
        planned.index,
        alone=alone,
        sinks=judge_sinks(case, seen).verdict,
        without_failures=without_failures,
        batch=batch_rate,
        stall=stall,
    )


def merge_batch(description: Description, batch: list[Planned]) -> Case | None:
    """Merge the cases of a batch into one; None if there is only one, or the engine does not support the result."""
    can = description.capabilities
    cases = [planned.case for planned in batch if not can.unsupported(planned.case)]
    try:
        merged = merge(cases) if len(cases) > 1 else None
    except Malformed:
        return None
    return merged if merged is not None and not can.unsupported(merged) else None


def repeat(bench: Bench, request: RunRequest, most: int) -> FailureRate:
    """Stop after a failure in the first run; otherwise, after the first failure, complete `most` runs."""
    for run in range(1, most + 1):
        if is_unsafe(bench.run(request)[1]):
            return FailureRate(1, 1) if run == 1 else measure_rate(bench, request, most - run, FailureRate(1, run))
    return FailureRate(0, most)


def measure_rate(bench: Bench, request: RunRequest, runs: int, so_far: FailureRate | None = None) -> FailureRate:
    """Run a request so many times, and add the failures to a rate."""
    so_far = so_far or FailureRate(0, 0)
    failed = sum(is_unsafe(bench.run(request)[1]) for _ in range(runs))
    return FailureRate(so_far.failed + failed, so_far.runs + runs)
