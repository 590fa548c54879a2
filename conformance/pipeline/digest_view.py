"""
A case and observations that fit into one process: where everything agrees, one number stands for all that is in a
segment, and only where something does not agree are the events those that were seen.

`judge.decide` asks of observations how many epochs they show, whether these are equal, and what the first ones are that
are not. So it says of these stand-ins what it would say of the whole, word for word.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from attrs import evolve, frozen

from conformance.case import Case, Epochs
from conformance.errors import Malformed
from conformance.observation import Observation, Observations
from conformance.pipeline.segments import RECORDED, Rows, SegmentKey, SegmentSummary
from conformance.programs import Event


@frozen
class SegmentIndex:
    """What there is: all rows, what is known of each segment, how many epochs each stream has."""

    rows: Rows
    summaries: Mapping[SegmentKey, SegmentSummary]
    epochs: Mapping[tuple[int, str], int]

    def shown(self, origin: int, stream: str) -> int:
        """How many epochs of a stream there are."""
        return self.epochs.get((origin, stream), 0)

    def check_inputs(self, case: Case) -> None:
        """Every source has as many epochs as the case says."""
        for source in case.graph.sources:
            if (found := self.shown(RECORDED, source)) != case.epochs:
                expected = f"{case.epochs}, as the case says"
                file = self.rows.file(RECORDED)
                raise Malformed(f"{found} epochs", expected, path=("inputs", source), file=file)

    def content(self, place: SegmentKey) -> tuple[int, int, int] | None:
        """What tells one segment from another."""
        found = self.summaries.get(place)
        return None if found is None else (found.rows, *found.hashes)


def stand_ins(whole: SegmentIndex, case: Case, seen: Observations) -> tuple[Case, Observations]:
    """The case and the observations with events where they matter."""
    return _filled(whole, case, seen, set(_of_interest(whole, case, seen)))


def gathered(whole: SegmentIndex, case: Case, seen: Observations) -> tuple[Case, Observations]:
    """The case and the observations with all their events, in this process."""
    return _filled(whole, case, seen, {(stream, epoch) for _, stream, epoch in whole.summaries})


def _of_interest(whole: SegmentIndex, case: Case, seen: Observations) -> Iterator[tuple[str, int]]:
    """The streams and epochs of which findings quote events: the first that differ, and the first of too many."""
    last = len(seen.observations) - 1
    for stream in seen.observed:
        for before, after in pairwise(range(len(seen.observations))):
            yield from _first_difference(whole, stream, before, after, whole.shown(before, stream))
        if whole.shown(last, stream) > case.epochs:
            yield stream, case.epochs + 1
    for source in seen.observed & set(case.graph.sources):
        for origin in range(len(seen.observations)):
            yield from _first_difference(whole, source, RECORDED, origin, whole.shown(origin, source))


def _first_difference(whole: SegmentIndex, stream: str, one: int, other: int, epochs: int) -> Iterator[tuple[str, int]]:
    for epoch in range(1, epochs + 1):
        if whole.content((one, stream, epoch)) != whole.content((other, stream, epoch)):
            yield stream, epoch
            return


def _filled(
    whole: SegmentIndex, case: Case, seen: Observations, wanted: set[tuple[str, int]]
) -> tuple[Case, Observations]:
    fetched: dict[tuple[str, int, object], SegmentKey] = {}
    for place in whole.summaries:
        if place[1:] in wanted:
            fetched.setdefault((*place[1:], whole.content(place)), place)
    events = whole.rows.events(fetched.values())
    known: dict[tuple[str, int, object], tuple[Event, ...]] = {key: events[place] for key, place in fetched.items()}

    def epochs(origin: int, stream: str) -> Epochs:
        keys = (
            (stream, epoch, whole.content((origin, stream, epoch)))
            for epoch in range(1, whole.shown(origin, stream) + 1)
        )
        return tuple(known.setdefault(key, (len(known),)) for key in keys)

    inputs = {source: epochs(RECORDED, source) for source in case.graph.sources}
    shown = tuple(
        Observation({stream: epochs(index, stream) for stream in each.streams})
        for index, each in enumerate(seen.observations)
    )
    return evolve(case, inputs=inputs), evolve(seen, observations=shown)
