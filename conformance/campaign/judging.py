"""
Verdicts on runs: what the judge says of one, and what it counts as in a campaign.

The judge returns a `Verdict` with its proof. `RunVerdict` is the same without the proof, for the journal. `Outcome` is
what the run counts as, which also depends on the failures that fired. `tally.EngineVerdict` summarizes all cases of an
engine.
"""

from attrs import evolve, frozen

from conformance.campaign.events import Outcome, VerdictName
from conformance.case import Case
from conformance.codec import digest
from conformance.errors import Malformed
from conformance.judge import Budget, Conforms, Inconclusive, Violates, judge
from conformance.judge.verdict import Finding
from conformance.observation import Observations

STEPS = 150_000
"""The limit of the judge's search for one run, about a second. Steps, not seconds: verdicts must not depend on load."""

SECONDS = 120.0


@frozen
class RunVerdict:
    """A verdict without its proof, which can be recomputed from the case and the observations."""

    verdict: VerdictName
    because: str = ""
    guarantee: str = ""
    findings: tuple[Finding, ...] = ()
    epochs: int = 0


def judge_run(case: Case, seen: Observations) -> RunVerdict:
    """Judge one run."""
    match judge(case, seen, Budget(steps=STEPS, seconds=SECONDS)):
        case Conforms(epochs=epochs):
            return RunVerdict("conforms", epochs=epochs)
        case Violates(guarantee=guarantee, findings=findings):
            return RunVerdict("violates", guarantee=guarantee, findings=findings, epochs=_committed(seen))
        case Inconclusive(because=because):
            return RunVerdict("inconclusive", because, epochs=_committed(seen))


def _committed(seen: Observations) -> int:
    return min(map(len, seen.observations[-1].streams.values()), default=0) if seen.observations else 0


def judge_outcome(case: Case, seen: Observations) -> tuple[Outcome, RunVerdict]:
    """
    Judge a run, and decide what it counts as.

    A case whose failures did not all fire proves nothing about recovery, so it cannot pass; a violation counts all the
    same.
    """
    try:
        seen.check_fit(case, digest(case))
    except Malformed as refused:
        return "error", RunVerdict("inconclusive", f"what it says it observed is refused: {refused}")
    verdict = judge_run(case, seen)
    fired = {fired.failure for fired in seen.fired}
    if verdict.verdict == "violates":
        return "violates", verdict
    if seen.end == "error":
        return "error", evolve(verdict, because=seen.message or "it ended in an error, and did not say which")
    if len(fired) < len(case.failures):
        missing = ", ".join(str(n) for n in range(len(case.failures)) if n not in fired)
        return "not exercised", evolve(
            verdict, because=f"of {len(case.failures)} failures these did not fire: {missing}"
        )
    return verdict.verdict, verdict


def judge_sinks(case: Case, seen: Observations) -> RunVerdict:
    """Judge a run by its sinks alone (and by its sources, if only they show the borders)."""
    shown = set(case.graph.sinks) | (set(case.graph.sources) if seen.epochs == "own" else set())
    observations = tuple(
        evolve(each, streams={stream: epochs for stream, epochs in each.streams.items() if stream in shown})
        for each in seen.observations
    )
    return judge_run(case, evolve(seen, observations=observations))
