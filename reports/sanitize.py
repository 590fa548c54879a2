"""Text that an engine or a file supplied, fit to be shown: nothing hidden, nothing that turns a line around, no end."""

from conformance.errors import printable
from conformance.programs import Event

LONGEST = 600
"""Characters of a text that are shown."""

LABEL = 6
"""Characters of an event that a diagram has room for."""


def shown(text: str, most: int = LONGEST) -> str:
    """A text, as it is but for what cannot be printed, and cut where it has no end."""
    cut = text[: most + 1]
    if len(text) <= most:
        return printable(cut)
    return f"{printable(cut[:most])}… ({len(text):,} characters)"


def event(value: Event) -> str:
    """An event in a list: a number as it is, a text in quotes."""
    return str(value) if isinstance(value, int) else f"“{shown(value, 64)}”"


def label(value: Event) -> str:
    """An event on a diagram: of a long one its end, where numbers differ most."""
    text = str(value) if isinstance(value, int) else shown(value, 64)
    return text if len(text) <= LABEL else f"…{text[-4:]}"


def events(values: tuple[Event, ...], most: int = 24) -> str:
    """Events in a row."""
    said = ", ".join(map(event, values[:most])) or "–"
    return said if len(values) <= most else f"{said}, … ({len(values):,} events)"
