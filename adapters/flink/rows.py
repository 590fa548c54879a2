"""Rows that operators send each other and that sinks write: an event of a stream, or a border, as text."""

import json
from typing import NamedTuple

from conformance.programs import Event


class DataRow(NamedTuple):
    """An event of a stream in an epoch of the case or, without an event, the border that closes the epoch."""

    stream: str
    epoch: int
    event: Event | None = None


def format_row(row: DataRow) -> str:
    """Format a row as JSON: `[stream, epoch, event]`, or `[stream, epoch]` for a border."""
    return json.dumps(row if row.event is not None else row[:2])


def parse_row(text: str) -> DataRow:
    """Parse the text of `format_row`."""
    return DataRow(*json.loads(text))
