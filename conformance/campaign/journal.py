"""
The journal: one line of JSON for each event, appended and synced to disk before the next event.

A process that is killed while it writes leaves an incomplete last line. Reading stops before it; resuming overwrites
it.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from conformance.campaign.events import EVENTS, NAMES, CampaignEvent
from conformance.codec import parse
from conformance.codec.strict import checked_json, mapping
from conformance.codec.typed import decode, encode
from conformance.errors import Malformed, Unreadable, Unwritable, quote


def encode_event(event: CampaignEvent) -> dict[str, Any]:
    """Encode an event as JSON, its kind first."""
    return {"event": NAMES[type(event)], **encode(event)}


def decode_event(value: object) -> CampaignEvent:
    """Decode an event from JSON."""
    fields = mapping(value)
    name = fields.pop("event", None)
    if not isinstance(name, str) or name not in EVENTS:
        raise Malformed("no event" if name is None else quote(name), "one of " + ", ".join(EVENTS), path=("event",))
    return decode(EVENTS[name], fields)


def read_events(path: Path) -> list[CampaignEvent]:
    """Read the complete lines of a journal."""
    return [event for event, _ in _complete_lines(path)]


def _complete_lines(path: Path) -> Iterator[tuple[CampaignEvent, int]]:
    """Yield each event, and the offset at which its line ends."""
    try:
        content = path.read_bytes()
    except OSError as error:
        hint = "Give a folder that `conformance certify` made."
        raise Unreadable(str(path), error.strerror or str(error), hint) from None
    end = 0
    for number, line in enumerate(content.splitlines(keepends=True), start=1):
        if not line.endswith(b"\n"):
            return
        end += len(line)
        try:
            yield decode_event(checked_json(parse(line.decode("utf-8")))), end
        except UnicodeDecodeError:
            raise Malformed("bytes that are not UTF-8", "an event", file=f"{path}, line {number}") from None
        except Malformed as refused:
            refused.file = f"{path}, line {number}"
            raise


class Journal:
    """A journal that is open for writing, by one process at a time."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            hint = "Wait until it ends, or give another folder."
            raise Unwritable(str(path.parent), "another process is running this campaign", hint) from None
        lines = list(_complete_lines(path))
        self.events = [event for event, _ in lines]
        self._file.truncate(lines[-1][1] if lines else 0)

    def write(self, event: CampaignEvent) -> None:
        """Append an event and sync it to disk."""
        self._file.write(json.dumps(encode_event(event), ensure_ascii=True).encode("ascii") + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self.events.append(event)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
