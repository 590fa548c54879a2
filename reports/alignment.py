"""
Observed output beside the closest possible output, event by event.

The first event that no failure-free execution explains is marked.
"""

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

from attrs import frozen

from conformance.case import Case, Epochs
from conformance.judge.verdict import Finding
from conformance.observation import Observations
from conformance.programs import Event
from conformance.reports.sanitize import format_event

TokenKind: TypeAlias = Literal["", "more", "gap", "first"]
"""In both outputs, only in the observed one, only in the possible one, or the first that nothing explains."""

MAX_TOKENS = 40
"""Events of a row that are shown."""

MAX_ROWS = 30

MOMENTARY_DIAGNOSES = {"retracted", "dirty", "torn"}
"""Diagnoses of a single observation; all others are of the last one."""


@frozen
class Token:
    """An event in one of the two outputs."""

    text: str
    kind: TokenKind = ""


@frozen
class AlignedRow:
    """A stream in an epoch: the observed events, and the possible ones."""

    stream: str
    epoch: int
    observed: tuple[Token, ...]
    possible: tuple[Token, ...]
    marked: bool = False


def align(
    case: Case, observed: Observations, findings: Sequence[Finding], possible: Mapping[str, Epochs]
) -> tuple[AlignedRow, ...]:
    """Align the streams and epochs that differ, the one that the first finding names before all others."""
    if not observed.observations:
        return ()
    finding = next((each for each in findings if each.stream is not None), None)
    index = len(observed.observations) - 1
    if finding is not None and finding.diagnosis in MOMENTARY_DIAGNOSES and finding.observation is not None:
        index = min(finding.observation, index)
    rows = list(_rows(case, observed.observations[index].streams, possible, finding))
    rows.sort(key=lambda row: not row.marked)
    return tuple(rows[:MAX_ROWS])


def _rows(
    case: Case, observed: Mapping[str, Epochs], possible: Mapping[str, Epochs], finding: Finding | None
) -> Iterator[AlignedRow]:
    for stream in case.graph.streams:
        if stream not in observed:
            continue
        for epoch in range(1, max(len(observed[stream]), len(possible.get(stream, ()))) + 1):
            marked = finding is not None and (finding.stream, finding.epoch) == (stream, epoch)
            left, right = _events(observed[stream], epoch), _events(possible.get(stream, ()), epoch)
            if marked or (left is not None and left != right):
                yield _row(stream, epoch, left, right, finding if marked else None)


def _events(epochs: Epochs, epoch: int) -> tuple[Event, ...] | None:
    return epochs[epoch - 1] if epoch <= len(epochs) else None


def _row(
    stream: str, epoch: int, left: tuple[Event, ...] | None, right: tuple[Event, ...] | None, finding: Finding | None
) -> AlignedRow:
    observed: list[Token] = []
    possible: list[Token] = []
    position = finding.position if finding is not None else None
    shown, expected = left or (), right or ()
    for tag, i, j, k, m in SequenceMatcher(None, shown, expected, autojunk=False).get_opcodes():
        observed += [
            Token(format_event(event), "first" if index == position else "" if tag == "equal" else "more")
            for index, event in enumerate(shown[i:j], start=i)
        ]
        possible += [Token(format_event(event), "" if tag == "equal" else "gap") for event in expected[k:m]]
    if position is not None and position >= len(shown):
        observed.append(Token("nothing more" if left is not None else "not there", "first"))
    return AlignedRow(stream, epoch, tuple(observed[:MAX_TOKENS]), tuple(possible[:MAX_TOKENS]), finding is not None)
