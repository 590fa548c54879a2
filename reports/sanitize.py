"""
Sanitize text that an engine or a file supplied, and format events.

Sanitized text has no hidden character, no character that reverses the reading direction, and a limited length. It is
not escaped: the template engine and `svg` escape it for HTML.
"""

from conformance.case import Epochs
from conformance.errors import printable
from conformance.programs import Event

MAX_LENGTH = 600
"""Characters of a sanitized text."""

MAX_EVENT_LENGTH = 64
"""Characters of a text event."""

MAX_LINES = 40
"""Lines of a list: epochs of a stream, failures, holds, findings, observations."""

MAX_LABEL_LENGTH = 6
"""Characters of an event's label in a diagram."""


def sanitize(text: str, max_length: int = MAX_LENGTH) -> str:
    """Escape characters that cannot be printed, and cut a text that is too long."""
    if len(text) <= max_length:
        return printable(text)
    return f"{printable(text[:max_length])}… ({len(text):,} characters)"


def format_event(value: Event) -> str:
    """Format an event for a list: an integer as it is, a text in quotes."""
    return str(value) if isinstance(value, int) else f"“{sanitize(value, MAX_EVENT_LENGTH)}”"


def format_events(values: tuple[Event, ...], limit: int = 24) -> str:
    """Format the events of an epoch on one line."""
    line = ", ".join(map(format_event, values[:limit])) or "–"
    return line if len(values) <= limit else f"{line}, … ({len(values):,} events)"


def format_epochs(epochs: Epochs) -> tuple[str, ...]:
    """Format a stream, one line for each epoch."""
    return tuple(map(format_events, epochs[:MAX_LINES]))


def label_event(value: Event) -> str:
    """Shorten an event to its label in a diagram: a long one to its end, because numbers differ most there."""
    text = str(value) if isinstance(value, int) else sanitize(value, MAX_EVENT_LENGTH)
    return text if len(text) <= MAX_LABEL_LENGTH else f"…{text[-4:]}"
