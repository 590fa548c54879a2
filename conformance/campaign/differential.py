"""
Differential testing: what several engines showed for the same case.

Two engines that both conform may differ wherever a task has several inputs. A difference counts if one of them is not
explained by a failure-free execution.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, Literal, TypeAlias

from attrs import frozen

from conformance.campaign.events import Outcome
from conformance.campaign.results import Results
from conformance.campaign.tally import Tally
from conformance.judge.verdict import QUOTED
from conformance.observation import Observations
from conformance.programs import Event

Comparison: TypeAlias = Literal["compatible", "differing", "inconclusive"]


def first_difference(one: Observations, other: Observations) -> dict[str, Any] | None:
    """Return the first epoch in which two last observations differ, in the streams that both have."""
    if not one.observations or not other.observations:
        return None
    first, second = one.observations[-1].streams, other.observations[-1].streams
    shared = [stream for stream in first if stream in second]
    epochs = max((max(len(first[stream]), len(second[stream])) for stream in shared), default=0)
    for epoch in range(epochs):
        for stream in shared:
            if first[stream][epoch : epoch + 1] != second[stream][epoch : epoch + 1]:
                return {"stream": stream, "epoch": epoch + 1}
    return None


@frozen
class Disagreement:
    """A case for which engines show different events: the first difference, the events there, and the outcomes."""

    case: str
    comparison: Comparison
    stream: str
    epoch: int
    shown: Mapping[str, tuple[Event, ...] | None]
    outcomes: Mapping[str, Outcome]


def disagreements(engines: Mapping[str, tuple[Tally, Results]]) -> Iterator[Disagreement]:
    """Yield every case on which engines disagree, in the order of the plan. Engines with own epochs are left out."""
    given = {
        engine: (tally, results)
        for engine, (tally, results) in engines.items()
        if tally.began is not None and tally.began.description.epochs == "given"
    }
    every = [tally.judged for tally, _ in given.values()]
    for index in sorted(set.intersection(*(set(judged) for judged in every)) if every else ()):
        outcomes = {engine: tally.outcome(tally.judged[index]) for engine, (tally, _) in given.items()}
        name = every[0][index].id
        seen = {engine: results.observations(name) for engine, (_, results) in given.items()}
        found = _disagreement(name, {engine: each for engine, each in seen.items() if each is not None}, outcomes)
        if found is not None:
            yield found


def _comparison(outcomes: set[Outcome]) -> Comparison:
    if "violates" in outcomes:
        return "differing"
    return "compatible" if outcomes == {"conforms"} else "inconclusive"


def _disagreement(name: str, seen: Mapping[str, Observations], outcomes: Mapping[str, Outcome]) -> Disagreement | None:
    for one, other in combinations(seen, 2):
        place = first_difference(seen[one], seen[other])
        if place is not None:
            stream, epoch = place["stream"], place["epoch"]
            shown = {engine: each.observations[-1].streams for engine, each in seen.items() if each.observations}
            last = {engine: streams.get(stream, ())[epoch - 1 : epoch] for engine, streams in shown.items()}
            return Disagreement(
                name,
                _comparison(set(outcomes.values())),
                stream,
                epoch,
                {engine: epochs[0][:QUOTED] if epochs else None for engine, epochs in last.items()},
                dict(outcomes),
            )
    return None
