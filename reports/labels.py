"""Failures, sizes and verdicts in words, and the sign that each outcome has beside its colour."""

import re

from markupsafe import Markup, escape

from conformance.case import BORDER, Crash, Failure, Hold, Kill, Partition
from conformance.reports.sanitize import shown

ICONS = {
    "conforms": "✓",
    "violates": "✕",
    "inconclusive": "?",
    "not exercised": "○",
    "unsupported": "–",
    "error": "!",
}
"""Outcomes are told apart by word and sign; colours only help."""

MEANINGS = {
    "conforms": "explained by a failure-free execution",
    "violates": "no failure-free execution explains it",
    "inconclusive": "the search was cut short, or a stall did not repeat",
    "not exercised": "not all of its failures happened",
    "unsupported": "beyond what the engine can do",
    "error": "the engine failed to run it",
}

_CODE = re.compile(r"`([^`<>&]{1,80})`")


def failure_words(failure: Failure) -> str:
    """A failure, as one would tell it."""
    match failure:
        case Crash(event=event):
            place = "at its border" if event == BORDER else f"before event {event}"
            return f"`{failure.task}` crashes in epoch {failure.epoch}, {place}"
        case Kill():
            return f"the {failure.target} is killed in epoch {failure.epoch}, in {failure.phase or 'processing'}"
        case Partition():
            return f"a worker is cut off for {failure.seconds:g} s in epoch {failure.epoch}"
        case _:
            return f"orderly restart after epoch {failure.epoch}"


def hold_words(hold: Hold) -> str:
    """Who is held back, as one would tell it."""
    return f"`{hold.task}` goes last in epoch {hold.epoch}"


def failure_kind(failure: Failure) -> str:
    """What kind it is, as far as recoveries from it can be compared."""
    return f"kill of a {failure.target}" if isinstance(failure, Kill) else failure.kind


def prose(text: str) -> Markup:
    """Hostile text with names in backticks, as names are shown."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(shown(text, 2_000)))))  # noqa: S704 - escaped before


def counted(number: int, thing: str) -> str:
    """So many of something."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
