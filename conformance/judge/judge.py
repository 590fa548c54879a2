"""
The judge: (Case, Observations) to a verdict.

An engine conforms iff one failure-free execution of the model explains every observation, monotonically. The parts of
that: the observations are consistent with each other (`history`); the sources show the recorded input; the last
observation is explained by an execution (`explain`), and then so is every earlier one, as a prefix of it; every epoch
is there (`progress`). What conforms is proven by replaying that execution (`witness`).
"""

from collections.abc import Iterator, Sequence
from functools import partial
from math import inf
from typing import Protocol, TypeVar

from attrs import evolve

from conformance.case import Case, Epochs, Graph
from conformance.errors import OutOfBudget
from conformance.judge import history, progress
from conformance.judge.budget import Budget
from conformance.judge.diagnose import compare, determined, diagnose
from conformance.judge.explain import Orders, Seen, explain
from conformance.judge.sequences import agreement, joined
from conformance.judge.verdict import (
    QUOTED,
    Conforms,
    Diagnosis,
    Finding,
    Inconclusive,
    Verdict,
    Violates,
    delivery_guarantee,
)
from conformance.judge.witness import prove, prove_unaligned
from conformance.observation import Observations

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
T_contra = TypeVar("T_contra", contravariant=True)


def judge(case: Case, seen: Observations, budget: Budget | None = None) -> Verdict:
    """
    Whether what was seen is explained by a failure-free execution of the case.

    A stall is a finding of its own, beside those of safety and never instead of them.
    """
    within = budget or Budget()

    def explained(judged: Case, *, complete: bool) -> Orders | list[Finding]:
        return _explained(judged, seen, complete=complete, budget=within)

    def proven(judged: Case, explanation: Orders, *, complete: bool) -> Conforms:
        if seen.snapshots == "unaligned":
            return prove_unaligned(judged, seen, explanation, complete=complete)
        return prove(judged, seen, explanation, epochs_to_judge(judged, seen))

    return decide(case, seen, explained, proven)


class Explains(Protocol[T_co]):
    """Explain the last observation; or say of each part of the graph that cannot be explained where and why."""

    def __call__(self, judged: Case, *, complete: bool) -> T_co | list[Finding]: ...


class Proves(Protocol[T_contra]):
    """Make of an explanation the proof that a verdict carries."""

    def __call__(self, judged: Case, explanation: T_contra, *, complete: bool) -> Conforms: ...


def decide(case: Case, seen: Observations, explained: Explains[T], proven: Proves[T]) -> Verdict:
    """
    The verdict, whoever explains the last observation. Of all others, and of the recorded input, nothing is asked but
    how many epochs there are, whether they are equal, and what the first ones are that are not.
    """
    seen.check_streams(case)
    if not seen.observations:
        return Inconclusive("nothing was observed")
    safety = [*history.findings(case, seen), *_source_findings(case, seen)]
    late = list(progress.findings(case, seen))
    judged = _as_observed(case, seen)
    complete = seen.end != "error" and not late
    try:
        answer = explained(judged, complete=complete)
    except OutOfBudget as out:
        # What was found without the search stands; what it would have found is not known.
        return _violates([*safety, *late]) if safety else Inconclusive(str(out))
    if isinstance(answer, list):
        safety += _causes(case.graph, answer)
    if safety or late:
        return _violates([*safety, *late])
    if seen.end == "error":
        return Inconclusive(f"the engine ended in an error: {seen.message or 'it did not say which'}")
    assert not isinstance(answer, list)  # noqa: S101 - a list would have been findings
    return proven(judged, answer, complete=complete)


def _causes(graph: Graph, findings: Sequence[Finding]) -> list[Finding]:
    """
    Without what follows from another finding. A task is judged by what its inputs show: where one of them is itself
    wrong, or made of what is, in the same epoch or before, what the task made of it proves nothing about the task.
    """
    wrong: dict[str | None, int] = {}
    for finding in findings:
        wrong[finding.stream] = min(finding.epoch or 0, wrong.get(finding.stream, finding.epoch or 0))
    doubtful: dict[str | None, float] = {}
    for task in graph.in_order:
        doubtful[task.output] = min(min(wrong.get(each, inf), doubtful.get(each, inf)) for each in task.inputs)
    return [finding for finding in findings if doubtful.get(finding.stream, inf) > (finding.epoch or 0)]


def _violates(findings: list[Finding]) -> Violates:
    return Violates(delivery_guarantee(tuple(findings)), tuple(findings))


def epochs_to_judge(judged: Case, seen: Observations) -> int:
    """How many epochs there are to judge."""
    last = seen.observations[-1].streams
    if seen.epochs == "own":
        return min(len(last[source]) for source in judged.graph.sources)
    return min(judged.epochs, max(map(len, last.values())))


def _as_observed(case: Case, seen: Observations) -> Case:
    """
    The case that the engine ran: the given one or, with epochs of its own, the one with borders where it put them.

    Failures and holds play no part in what may be seen, so they are left out. With epochs of the engine's own, what is
    behind the last border that every source shows cannot be judged yet: where the next one falls is not known.
    """
    plain = evolve(case, failures=(), holds=())
    if seen.epochs == "given":
        return plain
    last = seen.observations[-1].streams
    shown = min(len(last[source]) for source in case.graph.sources)
    return evolve(plain, inputs={source: last[source][:shown] or ((),) for source in case.graph.sources})


def _source_findings(case: Case, seen: Observations) -> Iterator[Finding]:
    """The sources show the recorded input: its epochs, or, with epochs of the engine's own, what comes first of it."""
    for source in case.graph.sources:
        for index, observation in enumerate(seen.observations):
            finding = _source_finding(case, seen, source, index, observation.streams.get(source, ()))
            if finding is not None:
                yield finding
                break


def _source_finding(case: Case, seen: Observations, source: str, index: int, shown: Epochs) -> Finding | None:
    recorded = case.inputs[source]
    if seen.epochs == "own":
        recorded, shown = (joined(recorded),), (joined(shown),)
        if shown[0] == recorded[0][: len(shown[0])]:
            return None
    elif (seen.snapshots == "unaligned" and _lags(recorded, shown)) or shown == recorded[: len(shown)]:
        return None
    for epoch, events in enumerate(shown, start=1):
        wanted = recorded[epoch - 1] if epoch <= len(recorded) else ()
        if events == wanted:
            continue
        place = agreement(events, wanted)
        because = (
            f"Epoch {epoch} of source `{source}` shows {len(events)} events where {len(wanted)} were recorded; "
            f"they differ from position {place} on."
        )
        diagnosis: Diagnosis = "duplicated" if epoch > len(recorded) else compare(wanted, events)
        return Finding(
            diagnosis, because, index, source, epoch, place, wanted[place:][:QUOTED], events[place:][:QUOTED]
        )
    return None


def _lags(recorded: Epochs, shown: Epochs) -> bool:
    """
    Whether a source shows the recorded input, each event in its epoch or, unaligned, in a later one.

    What carries a source to the observer may leave events for later, as a task may; at the last epoch nothing is left.
    """
    wanted, found = joined(recorded), joined(shown)
    in_time = all(len(joined(shown[:n])) <= len(joined(recorded[:n])) for n in range(1, len(shown) + 1))
    whole = len(shown) < len(recorded) or len(found) == len(wanted)
    return len(shown) <= len(recorded) and in_time and whole and found == wanted[: len(found)]


def _explained(judged: Case, seen: Observations, *, complete: bool, budget: Budget) -> Orders | list[Finding]:
    epochs = epochs_to_judge(judged, seen)
    extra = too_many(judged, seen)
    segments = segments_seen(judged, seen, epochs)
    aligned = seen.snapshots == "aligned"
    ends = judged.epochs if seen.epochs == "given" else None
    answer = explain(judged.graph, segments, epochs, budget, aligned=aligned, complete=complete, last=ends)
    if isinstance(answer, list):
        known = determined(judged.graph, segments) if aligned else segments
        return extra + [
            finding
            for each in answer
            for finding in diagnose(known, each, partial(first_shown, seen, each.stream), aligned=aligned)
        ]
    return extra or answer


def segments_seen(judged: Case, seen: Observations, epochs: int) -> Seen:
    """What there is to explain of each stream and epoch: the recorded input, and what the last observation shows."""
    last = seen.observations[-1].streams
    return {
        stream: judged.inputs[stream][:epochs]
        if stream in judged.inputs
        else [last[stream][n] if stream in last and n < len(last[stream]) else None for n in range(epochs)]
        for stream in judged.graph.streams
    }


def too_many(judged: Case, seen: Observations) -> list[Finding]:
    """The streams that show more epochs than the input has."""
    last = seen.observations[-1].streams
    return [
        _too_many(stream, judged, shown, len(seen.observations) - 1)
        for stream, shown in last.items()
        if seen.epochs == "given" and len(shown) > judged.epochs
    ]


def _too_many(stream: str, judged: Case, shown: Epochs, index: int) -> Finding:
    because = f"`{stream}` shows {len(shown)} epochs, and the input has {judged.epochs}."
    return Finding("duplicated", because, index, stream, judged.epochs + 1, 0, (), shown[judged.epochs][:QUOTED])


def first_shown(seen: Observations, stream: str, epoch: int) -> int:
    """The first observation that shows that epoch of that stream."""
    for index, observation in enumerate(seen.observations):
        if len(observation.streams.get(stream, ())) >= epoch:
            return index
    return len(seen.observations) - 1
