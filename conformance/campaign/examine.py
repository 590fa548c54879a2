"""
A violation, looked at again before it convicts anybody.

It is run alone, as what ran beside it may have been the reason; judged on its sinks alone, as taps have a fault
tolerance of their own; and run without its failures, as what is wrong without any is not the fault of recovery. A stall
is a suspicion only: it has to repeat, alone on the machine, with ten times the deadline.
"""

from attrs import evolve, frozen

from conformance.adapters.stdio import Stdio
from conformance.campaign.artifacts import Artifacts, is_failure
from conformance.campaign.batch_runner import answers
from conformance.campaign.events import STALLED, Examined, Judged, Outcome, Rate
from conformance.campaign.judging import RunVerdict, on_sinks, outcome
from conformance.campaign.merge import merged
from conformance.campaign.plan import Planned, request_of
from conformance.case import Case
from conformance.codec import digest
from conformance.engine import Description, RunRequest
from conformance.errors import EngineFailed, Malformed
from conformance.observation import Observations

RUNS = 20
"""How often a violation that does not repeat at once is run again."""

BATCH_RUNS = 5
PATIENCE = 10
"""Times the deadline, for a stall to convict."""


@frozen
class Bench:
    """An engine to try single cases on."""

    engine: Stdio
    description: Description
    deadline: float
    artifacts: Artifacts

    def run(self, request: RunRequest) -> tuple[Outcome, RunVerdict, Observations | None]:
        """One run, judged."""
        (answer,) = answers(self.engine, self.description, [self.description.suited(request)])
        if isinstance(answer, EngineFailed):
            return "error", RunVerdict("inconclusive", str(answer)), None
        kind, verdict = outcome(request.case, answer)
        self.artifacts.hold(digest(request.case), failed=is_failure(kind, answer))
        return kind, verdict, answer


def unsafe(ruling: RunVerdict) -> bool:
    """Whether something wrong was shown (and not only nothing)."""
    return any(finding.diagnosis != STALLED for finding in ruling.findings)


def stalls(ruling: RunVerdict | Judged) -> bool:
    """Whether something is missing at the end."""
    return any(finding.diagnosis == STALLED for finding in ruling.findings)


def examine(
    bench: Bench, planned: Planned, judged: Judged, seen: Observations, batch: list[Planned], *, try_stall: bool
) -> Examined:
    """All of that, for one violation."""
    case, request = planned.case, planned.request(bench.deadline)
    only_stalls = all(finding.diagnosis == STALLED for finding in judged.findings)
    stall = None
    if stalls(judged) and try_stall:
        _, ruling, _ = bench.run(evolve(request, seconds=request.seconds * PATIENCE))
        stall = stalls(ruling)
    alone = Rate(0, 0) if only_stalls else repeats(bench, request, RUNS)
    together = None
    if alone.runs and not alone.failed and (all_of_them := as_one(bench.description, batch)) is not None:
        together = repeats(bench, request_of(all_of_them, sinks_only=False, deadline=bench.deadline), BATCH_RUNS)
    calm, _, _ = bench.run(evolve(request, case=evolve(case, failures=())))
    return Examined(
        planned.index,
        alone=alone,
        sinks=on_sinks(case, seen).verdict,
        without_failures=calm,
        batch=together,
        stall=stall,
    )


def as_one(description: Description, batch: list[Planned]) -> Case | None:
    """The cases that ran at once, as one; None where there is only one, or where that is more than an engine can do."""
    can = description.capabilities
    ran = [planned.case for planned in batch if not can.unsupported(planned.case)]
    try:
        together = merged(ran) if len(ran) > 1 else None
    except Malformed:
        return None
    return together if together is not None and not can.unsupported(together) else None


def repeats(bench: Bench, request: RunRequest, most: int) -> Rate:
    """Run it until it fails; how often it did, in how many runs. One that fails at once is not run on."""
    for run in range(1, most + 1):
        if unsafe(bench.run(request)[1]):
            return Rate(1, 1) if run == 1 else rate(bench, request, most - run, Rate(1, run))
    return Rate(0, most)


def rate(bench: Bench, request: RunRequest, runs: int, so_far: Rate | None = None) -> Rate:
    """How often it fails."""
    so_far = so_far or Rate(0, 0)
    failed = sum(unsafe(bench.run(request)[1]) for _ in range(runs))
    return Rate(so_far.failed + failed, so_far.runs + runs)
