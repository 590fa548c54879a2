"""
The journal: one line of JSON for each event, appended, and on the disk before the next case is asked for.

What was being written when we were killed is half a line without an end; reading stops before it, and going on writes
over it.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import cattrs
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
from cattrs.strategies import configure_tagged_union

from conformance.campaign.events import EVENTS, Event, Shrunk
from conformance.codec import parse
from conformance.codec.strict import checked_json
from conformance.errors import Malformed, Unreadable, Unwritable
from conformance.programs import Event as StreamEvent


def _converter() -> cattrs.Converter:
    converter = cattrs.Converter(forbid_extra_keys=True, unstruct_collection_overrides={frozenset: sorted})
    converter.register_structure_hook(StreamEvent, lambda value, _: value)
    # The field has another name in journals, so that those of earlier versions stay readable.
    renamed = override(rename="promise")
    converter.register_unstructure_hook(Shrunk, make_dict_unstructure_fn(Shrunk, converter, guarantee=renamed))
    converter.register_structure_hook(
        Shrunk, make_dict_structure_fn(Shrunk, converter, _cattrs_forbid_extra_keys=True, guarantee=renamed)
    )
    configure_tagged_union(Event, converter, tag_name="event", tag_generator=lambda kind: kind.__name__.lower())
    return converter


CONVERTER = _converter()


def encode_event(event: Event) -> dict[str, Any]:
    """An event as JSON, its kind first."""
    encoded: dict[str, Any] = CONVERTER.unstructure(event, unstructure_as=Event)
    return {"event": encoded.pop("event"), **encoded}


def decode_event(value: Any) -> Event:
    """JSON to an event."""
    if not isinstance(value, dict) or not isinstance(kind := value.get("event"), str) or kind not in EVENTS:
        raise Malformed("no such event", "one of " + ", ".join(EVENTS), path=("event",))
    try:
        return CONVERTER.structure(value, Event)  # type: ignore[arg-type] # a union is a type to cattrs
    except (cattrs.BaseValidationError, ValueError, TypeError) as error:
        raise Malformed("; ".join(cattrs.transform_error(error)), f"the fields of {value['event']}") from None


def read_events(path: Path) -> list[Event]:
    """All whole lines of a journal."""
    return [event for event, _ in _whole_lines(path)]


def _whole_lines(path: Path) -> Iterator[tuple[Event, int]]:
    """Events, and where the line of each ends."""
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
            raise Malformed(f"what is not UTF-8 in line {number}", "an event", file=str(path)) from None
        except Malformed as refused:
            refused.file = f"{path}, line {number}"
            raise


class Journal:
    """A journal that is being written."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            hint = "Wait for it, or give another folder."
            raise Unwritable(str(path.parent), "another process is at this campaign", hint) from None
        lines = list(_whole_lines(path))
        self.events = [event for event, _ in lines]
        self._file.truncate(lines[-1][1] if lines else 0)

    def write(self, event: Event) -> None:
        """Append an event, and wait until it is on the disk."""
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
