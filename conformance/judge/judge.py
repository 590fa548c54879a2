"""
The judge: (Case, Observations) to a verdict.

An engine conforms iff one failure-free execution of the model explains every observation, monotonically. That is
decided in four parts: the observations are consistent with each other (`history`); the sources show the recorded input;
the last observation is explained by an execution (`explain`), and then so is every earlier one, as a prefix of it;
every epoch is there (`liveness`). What conforms is proven by replaying that execution (`witness`); what does not is
described in a user's words (`diagnose`).

`judge` is the entry. `decide` is the same with the explanation and the proof left to the caller: the pipeline uses it
for datasets that do not fit into one process.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from math import inf
from typing import Protocol, TypeVar

from attrs import evolve

from conformance.case import Case, Epochs, Graph
from conformance.errors import OutOfBudget
from conformance.judge import history, liveness
from conformance.judge.budget import Budget
from conformance.judge.diagnose import add_determined_streams, compare, diagnose
from conformance.judge.explain import Orders, StreamSegments, explain
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
    Decide whether what was seen is explained by a failure-free execution of the case.

    A stall is a finding of its own, beside those of safety and never instead of them.
    """
    limit = budget or Budget()

    def explained(judged: Case, *, complete: bool) -> Orders | list[Finding]:
        return _explained(judged, seen, complete=complete, budget=limit)

    def proven(judged: Case, explanation: Orders, *, complete: bool) -> Conforms:
        if seen.snapshots == "unaligned":
            return prove_unaligned(judged, seen, explanation, complete=complete)
        return prove(judged, seen, explanation, epochs_to_judge(judged, seen))

    return decide(case, seen, explained, proven)


class Explains(Protocol[T_co]):
    """Explain the last observation, or find what cannot be explained: where it is and why."""

    def __call__(self, judged: Case, *, complete: bool) -> T_co | list[Finding]: ...


class Proves(Protocol[T_contra]):
    """Turn an explanation into the proof that a verdict carries."""

    def __call__(self, judged: Case, explanation: T_contra, *, complete: bool) -> Conforms: ...


def decide(case: Case, seen: Observations, explained: Explains[T], proven: Proves[T]) -> Verdict:
    """
    Decide the verdict with the caller's means of explaining the last observation and of proving the explanation.

    Earlier observations and the recorded input are only compared: the number of their epochs, whether epochs are equal,
    and the first epochs that differ.
    """
    seen.check_streams(case)
    if not seen.observations:
        return Inconclusive("nothing was observed")
    safety = [*history.findings(case, seen), *_source_findings(case, seen)]
    stalls = list(liveness.findings(case, seen))
    judged = case_as_run(case, seen)
    complete = seen.end != "error" and not stalls
    try:
        answer = explained(judged, complete=complete)
    except OutOfBudget as out:
        # What was found without the search stands; what it would have found is not known.
        return _violates([*safety, *stalls]) if safety else Inconclusive(str(out))
    if isinstance(answer, list):
        safety += _root_causes(case.graph, answer)
    if safety or stalls:
        return _violates([*safety, *stalls])
    if seen.end == "error":
        return Inconclusive(f"the engine ended in an error: {seen.message or 'it did not say which'}")
    assert not isinstance(answer, list)  # noqa: S101 - a list would have been findings
    return proven(judged, answer, complete=complete)


def _root_causes(graph: Graph, findings: Sequence[Finding]) -> list[Finding]:
    """
    Drop the findings that follow from another one.

    A task is judged by its observed inputs. If an input is wrong, or computed from a wrong stream, in the same epoch or
    before, then the output of the task proves nothing about the task.
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
    """Count the epochs to judge: those that the last observation shows and the input has."""
    last = seen.observations[-1].streams
    if seen.epochs == "own":
        return min(len(last[source]) for source in judged.graph.sources)
    return min(judged.epochs, max(map(len, last.values())))


def case_as_run(case: Case, seen: Observations) -> Case:
    """
    Return the case that the engine ran: with epochs of its own, the given one with borders where the engine put them.

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
    """
    Find the sources that do not show the recorded input.

    A source shows the epochs of the input or, with epochs of the engine's own, its first events.
    """
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

    The tap of a source may delay events to a later epoch, as a task may; with the last epoch all events are shown.
    """
    wanted, found = joined(recorded), joined(shown)
    in_time = all(len(joined(shown[:n])) <= len(joined(recorded[:n])) for n in range(1, len(shown) + 1))
    whole = len(shown) < len(recorded) or len(found) == len(wanted)
    return len(shown) <= len(recorded) and in_time and whole and found == wanted[: len(found)]


def _explained(judged: Case, seen: Observations, *, complete: bool, budget: Budget) -> Orders | list[Finding]:
    epochs = epochs_to_judge(judged, seen)
    extra = surplus_epochs(judged, seen)
    segments = stream_segments(judged, seen, epochs)
    aligned = seen.snapshots == "aligned"
    ends = judged.epochs if seen.epochs == "given" else None
    answer = explain(judged.graph, segments, epochs, budget, aligned=aligned, complete=complete, last=ends)
    if isinstance(answer, list):
        known = add_determined_streams(judged.graph, segments) if aligned else segments
        return extra + [
            finding
            for each in answer
            for finding in diagnose(known, each, partial(first_shown, seen, each.stream), aligned=aligned)
        ]
    return extra or answer


def stream_segments(judged: Case, seen: Observations, epochs: int) -> StreamSegments:
    """Collect what is to be explained of each stream and epoch: the recorded input, and the last observation."""
    last = seen.observations[-1].streams
    return {
        stream: judged.inputs[stream][:epochs]
        if stream in judged.inputs
        else [last[stream][n] if stream in last and n < len(last[stream]) else None for n in range(epochs)]
        for stream in judged.graph.streams
    }


def surplus_epochs(judged: Case, seen: Observations) -> list[Finding]:
    """Find the streams that show more epochs than the input has."""
    last = seen.observations[-1].streams
    return [
        _surplus(stream, judged, shown, len(seen.observations) - 1)
        for stream, shown in last.items()
        if seen.epochs == "given" and len(shown) > judged.epochs
    ]


def _surplus(stream: str, judged: Case, shown: Epochs, index: int) -> Finding:
    because = f"`{stream}` shows {len(shown)} epochs, and the input has {judged.epochs}."
    return Finding("duplicated", because, index, stream, judged.epochs + 1, 0, (), shown[judged.epochs][:QUOTED])


def first_shown(seen: Observations, stream: str, epoch: int) -> int:
    """Find the first observation that shows that epoch of that stream."""
    for index, observation in enumerate(seen.observations):
        if len(observation.streams.get(stream, ())) >= epoch:
            return index
    return len(seen.observations) - 1
