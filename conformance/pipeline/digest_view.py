"""
A small view of a case and its observations that fits into one process.

Where all observations agree, one number stands for the content of a segment. Only segments that differ have the events
that were observed. `judge.decide` asks how many epochs observations show, whether these are equal, and which is the
first that is not. So it says of this view what it would say of all events, word for word.
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
    """All rows, the summary of each segment, and the number of epochs of each stream."""

    rows: Rows
    summaries: Mapping[SegmentKey, SegmentSummary]
    epochs: Mapping[tuple[int, str], int]

    def shown(self, origin: int, stream: str) -> int:
        """Return the number of epochs of a stream."""
        return self.epochs.get((origin, stream), 0)

    def check_inputs(self, case: Case) -> None:
        """Refuse inputs with another number of epochs than the case has."""
        for source in case.graph.sources:
            if (found := self.shown(RECORDED, source)) != case.epochs:
                expected = f"{case.epochs}, as the case says"
                file = self.rows.file(RECORDED)
                raise Malformed(f"{found} epochs", expected, path=("inputs", source), file=file)

    def content(self, key: SegmentKey) -> tuple[int, int, int] | None:
        """Return what distinguishes one segment from another: its length and its hashes."""
        found = self.summaries.get(key)
        return None if found is None else (found.rows, *found.hashes)


def digest_view(index: SegmentIndex, case: Case, seen: Observations) -> tuple[Case, Observations]:
    """Return the case and the observations with events only where observations differ."""
    return _with_events(index, case, seen, set(_quoted_segments(index, case, seen)))


def full_view(index: SegmentIndex, case: Case, seen: Observations) -> tuple[Case, Observations]:
    """Return the case and the observations with all their events, in this process."""
    return _with_events(index, case, seen, {(stream, epoch) for _, stream, epoch in index.summaries})


def _quoted_segments(index: SegmentIndex, case: Case, seen: Observations) -> Iterator[tuple[str, int]]:
    """Yield the segments whose events findings quote: the first that differ, and the first surplus ones."""
    last = len(seen.observations) - 1
    for stream in seen.observed:
        for earlier, later in pairwise(range(len(seen.observations))):
            yield from _first_difference(index, stream, earlier, later, index.shown(earlier, stream))
        if index.shown(last, stream) > case.epochs:
            yield stream, case.epochs + 1
    for source in seen.observed & set(case.graph.sources):
        for origin in range(len(seen.observations)):
            yield from _first_difference(index, source, RECORDED, origin, index.shown(origin, source))


def _first_difference(index: SegmentIndex, stream: str, one: int, other: int, epochs: int) -> Iterator[tuple[str, int]]:
    for epoch in range(1, epochs + 1):
        if index.content((one, stream, epoch)) != index.content((other, stream, epoch)):
            yield stream, epoch
            return


def _with_events(
    index: SegmentIndex, case: Case, seen: Observations, wanted: set[tuple[str, int]]
) -> tuple[Case, Observations]:
    fetched: dict[tuple[str, int, object], SegmentKey] = {}
    for segment in index.summaries:
        if segment[1:] in wanted:
            fetched.setdefault((*segment[1:], index.content(segment)), segment)
    events = index.rows.events(fetched.values())
    known: dict[tuple[str, int, object], tuple[Event, ...]] = {key: events[segment] for key, segment in fetched.items()}

    def epochs(origin: int, stream: str) -> Epochs:
        keys = (
            (stream, epoch, index.content((origin, stream, epoch)))
            for epoch in range(1, index.shown(origin, stream) + 1)
        )
        return tuple(known.setdefault(key, (len(known),)) for key in keys)

    inputs = {source: epochs(RECORDED, source) for source in case.graph.sources}
    shown = tuple(
        Observation({stream: epochs(number, stream) for stream in each.streams})
        for number, each in enumerate(seen.observations)
    )
    return evolve(case, inputs=inputs), evolve(seen, observations=shown)
