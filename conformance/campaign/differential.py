"""
Several engines side by side: what each let be seen of the same case.

Two that both conform may differ, wherever a task has several inputs; what tells is who is explained and who is not.
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
    """The first epoch, of the streams that both show in the end, in which they differ."""
    if not one.observations or not other.observations:
        return None
    left, right = one.observations[-1].streams, other.observations[-1].streams
    shared = [stream for stream in left if stream in right]
    epochs = max((max(len(left[stream]), len(right[stream])) for stream in shared), default=0)
    for epoch in range(epochs):
        for stream in shared:
            if left[stream][epoch : epoch + 1] != right[stream][epoch : epoch + 1]:
                return {"stream": stream, "epoch": epoch + 1}
    return None


@frozen
class Disagreement:
    """A case of which engines show different things: where first, what each shows there, and who is explained."""

    case: str
    comparison: Comparison
    stream: str
    epoch: int
    shown: Mapping[str, tuple[Event, ...] | None]
    outcomes: Mapping[str, Outcome]


def disagreements(engines: Mapping[str, tuple[Tally, Results]]) -> Iterator[Disagreement]:
    """Every case on which engines disagree, in the order of the plan. Epochs of an engine's own cannot be compared."""
    given = {
        word: (tally, results)
        for word, (tally, results) in engines.items()
        if tally.began is not None and tally.began.description.epochs == "given"
    }
    every = [tally.judged for tally, _ in given.values()]
    for index in sorted(set.intersection(*(set(judged) for judged in every)) if every else ()):
        outcomes = {word: tally.outcome(tally.judged[index]) for word, (tally, _) in given.items()}
        name = every[0][index].id
        seen = {word: results.observations(name) for word, (_, results) in given.items()}
        found = _disagreement(name, {word: each for word, each in seen.items() if each is not None}, outcomes)
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
            shown = {word: each.observations[-1].streams for word, each in seen.items() if each.observations}
            last = {word: streams.get(stream, ())[epoch - 1 : epoch] for word, streams in shown.items()}
            return Disagreement(
                name,
                _comparison(set(outcomes.values())),
                stream,
                epoch,
                {word: epochs[0][:QUOTED] if epochs else None for word, epochs in last.items()},
                dict(outcomes),
            )
    return None
