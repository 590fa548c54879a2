"""Labels of failures, holds and counts in a report, and the icon and meaning of each outcome."""

import re

from markupsafe import Markup, escape

from conformance.case import BORDER, Case, Crash, Failure, Hold, Kill, Partition
from conformance.reports.sanitize import MAX_LINES, sanitize

ICONS = {
    "conforms": "✓",
    "violates": "✕",
    "inconclusive": "?",
    "not exercised": "○",
    "unsupported": "–",
    "error": "!",
}
"""The icon of each outcome. Outcomes differ by word and icon; colours only help."""

MEANINGS = {
    "conforms": "explained by a failure-free execution",
    "violates": "no failure-free execution explains it",
    "inconclusive": "the search was cut short, or a stall did not repeat",
    "not exercised": "not all of its failures happened",
    "unsupported": "beyond what the engine can do",
    "error": "the engine failed to run it",
}

_CODE = re.compile(r"`([^`<>&]{1,80})`")


def describe_failure(failure: Failure) -> str:
    """Describe a failure: what fails, in which epoch, and where in the epoch."""
    match failure:
        case Crash(event=event):
            position = "at its border" if event == BORDER else f"before event {event}"
            return f"`{failure.task}` crashes in epoch {failure.epoch}, {position}"
        case Kill():
            return f"the {failure.target} is killed in epoch {failure.epoch}, in {failure.effective_phase}"
        case Partition():
            return f"a worker is cut off for {failure.seconds:g} s in epoch {failure.epoch}"
        case _:
            return f"orderly restart after epoch {failure.epoch}"


def describe_failures(case: Case) -> tuple[str, ...]:
    """Describe the failures of a case, one line for each."""
    return tuple(map(describe_failure, case.failures[:MAX_LINES]))


def describe_holds(case: Case) -> tuple[str, ...]:
    """Describe the holds of a case, one line for each."""
    return tuple(map(_describe_hold, case.holds[:MAX_LINES]))


def _describe_hold(hold: Hold) -> str:
    """Describe a hold: the task that is delayed, and the epoch."""
    return f"`{hold.task}` goes last in epoch {hold.epoch}"


def classify_failure(failure: Failure) -> str:
    """Return the kind under which recovery times are compared: a kill of a worker is not a kill of a coordinator."""
    return f"kill of a {failure.target}" if isinstance(failure, Kill) else failure.kind


def format_prose(text: str) -> Markup:
    """Sanitize and escape a text, and mark names in backticks as code."""
    escaped = str(escape(sanitize(text, 2_000)))
    return Markup(_CODE.sub(r"<code>\1</code>", escaped))  # noqa: S704 - escaped before


def format_count(number: int, noun: str) -> str:
    """Format a number with its noun, in the plural where needed."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
