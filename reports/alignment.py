"""What was observed beside what could have been, event by event, with the first that nothing explains marked."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

from attrs import frozen

from conformance.case import Case, Epochs
from conformance.judge.verdict import Finding
from conformance.observation import Observations
from conformance.programs import Event
from conformance.reports.sanitize import format_event

Kind: TypeAlias = Literal["", "more", "gap", "first"]

MOST = 40
"""Events of a row that are shown."""

MOST_ROWS = 30

AT_THE_MOMENT = {"retracted", "dirty", "torn"}
"""What these are about is what one observation shows, and not what is there in the end."""


@frozen
class Token:
    """An event: the same on both sides, one more than could be, or one that is missing."""

    text: str
    kind: Kind = ""


@frozen
class Row:
    """A stream in an epoch: what was observed, and what could have been."""

    stream: str
    epoch: int
    observed: tuple[Token, ...]
    possible: tuple[Token, ...]
    marked: bool = False


def aligned(
    case: Case, seen: Observations, findings: Sequence[Finding], shows: Mapping[str, Epochs]
) -> tuple[Row, ...]:
    """The streams and epochs that differ from the closest execution, and the one that a finding names."""
    if not seen.observations:
        return ()
    first = next((each for each in findings if each.stream is not None), None)
    index = len(seen.observations) - 1
    if first is not None and first.diagnosis in AT_THE_MOMENT and first.observation is not None:
        index = min(first.observation, index)
    rows = list(_rows(case, seen.observations[index].streams, shows, first))
    rows.sort(key=lambda row: not row.marked)
    return tuple(rows[:MOST_ROWS])


def _rows(
    case: Case, streams: Mapping[str, Epochs], shows: Mapping[str, Epochs], first: Finding | None
) -> Iterator[Row]:
    for stream in case.graph.streams:
        if stream not in streams:
            continue
        observed, possible = streams[stream], shows.get(stream, ())
        for number in range(max(len(observed), len(possible))):
            marked = first is not None and (first.stream, first.epoch) == (stream, number + 1)
            there = observed[number] if number < len(observed) else None
            could = possible[number] if number < len(possible) else None
            if marked or (there is not None and there != could):
                yield _row(stream, number + 1, there, could, first if marked else None)


def _row(
    stream: str, epoch: int, there: tuple[Event, ...] | None, could: tuple[Event, ...] | None, first: Finding | None
) -> Row:
    observed: list[Token] = []
    possible: list[Token] = []
    left, right = there or (), could or ()
    place = first.position if first is not None else None
    for tag, i, j, k, m in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        observed += [
            Token(format_event(each), "first" if i + n == place else "" if tag == "equal" else "more")
            for n, each in enumerate(left[i:j])
        ]
        possible += [Token(format_event(each), "" if tag == "equal" else "gap") for each in right[k:m]]
    if place is not None and place >= len(left):
        observed.append(Token("nothing more" if there is not None else "not there", "first"))
    return Row(stream, epoch, tuple(observed[:MOST]), tuple(possible[:MOST]), first is not None)
