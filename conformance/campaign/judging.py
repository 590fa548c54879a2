"""Verdicts on runs: what the judge says of one, and what it counts as in a campaign."""

from attrs import evolve, frozen

from conformance.campaign.events import Outcome, Ruled
from conformance.case import Case
from conformance.codec import digest
from conformance.errors import Malformed
from conformance.judge import Budget, Conforms, Inconclusive, Violates, judge
from conformance.judge.verdict import Finding
from conformance.observation import Observations

STEPS = 150_000
"""Of the judge's search, for one run: about a second. Not seconds, so that a verdict does not depend on the day."""

SECONDS = 120.0


@frozen
class RunVerdict:
    """A verdict without its proof, which anybody can make again from the case and the observations."""

    verdict: Ruled
    because: str = ""
    guarantee: str = ""
    findings: tuple[Finding, ...] = ()
    epochs: int = 0


def rule(case: Case, seen: Observations) -> RunVerdict:
    """The judge's word on one run."""
    match judge(case, seen, Budget(steps=STEPS, seconds=SECONDS)):
        case Conforms(epochs=epochs):
            return RunVerdict("conforms", epochs=epochs)
        case Violates(guarantee=guarantee, findings=findings):
            return RunVerdict("violates", guarantee=guarantee, findings=findings, epochs=_committed(seen))
        case Inconclusive(because=because):
            return RunVerdict("inconclusive", because, epochs=_committed(seen))


def _committed(seen: Observations) -> int:
    return min(map(len, seen.observations[-1].streams.values()), default=0) if seen.observations else 0


def outcome(case: Case, seen: Observations) -> tuple[Outcome, RunVerdict]:
    """
    What a run counts as.

    A case whose failures did not all fire proves nothing about recovery, so it cannot pass; what it shows to be wrong
    is wrong all the same.
    """
    try:
        seen.check_fit(case, digest(case))
    except Malformed as refused:
        return "error", RunVerdict("inconclusive", f"what it says it observed is refused: {refused}")
    ruling = rule(case, seen)
    fired = {fired.failure for fired in seen.fired}
    if ruling.verdict == "violates":
        return "violates", ruling
    if seen.end == "error":
        return "error", evolve(ruling, because=seen.message or "it ended in an error, and did not say which")
    if len(fired) < len(case.failures):
        missing = ", ".join(str(n) for n in range(len(case.failures)) if n not in fired)
        return "not exercised", evolve(
            ruling, because=f"of {len(case.failures)} failures these did not fire: {missing}"
        )
    return ruling.verdict, ruling


def on_sinks(case: Case, seen: Observations) -> RunVerdict:
    """The same run, judged by its sinks alone (and by the sources, where only they tell the borders)."""
    shown = set(case.graph.sinks) | (set(case.graph.sources) if seen.epochs == "own" else set())
    observations = tuple(
        evolve(each, streams={stream: epochs for stream, epochs in each.streams.items() if stream in shown})
        for each in seen.observations
    )
    return rule(case, evolve(seen, observations=observations))
