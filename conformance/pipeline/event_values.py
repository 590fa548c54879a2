"""Values of a dataset as events. A column of text has each event as canonical JSON."""

import json
from functools import lru_cache
from typing import Any

from conformance.case import check_epochs
from conformance.codec.cases import canonical
from conformance.errors import Malformed
from conformance.pipeline.dataset import Kind
from conformance.programs import Event


def event_of(value: Any, kind: Kind) -> Event:
    """Convert a value to an event."""
    return int(value) if kind == "integers" else parsed(value)


@lru_cache(maxsize=100_000)
def parsed(text: str) -> Event:
    """Convert a value of a column of text, which has been checked, to an event."""
    event: Event = json.loads(text)
    return event


@lru_cache(maxsize=100_000)
def is_event(text: str) -> bool:
    """Tell whether a text is the canonical JSON of an event. Equal events must have equal hashes."""
    try:
        event = json.loads(text)
        check_epochs(((event,),))
    except (ValueError, RecursionError, Malformed):
        return False
    return canonical(event) == text


def are_events(values: Any) -> Any:
    """Tell the same of each value of a column, in a Spark worker. A border, which is null, is not wrong."""
    return values.map(lambda text: not isinstance(text, str) or is_event(text)).astype(bool)


# Spark reads the annotations of such a function, and accepts those of pandas or none.
are_events.__annotations__.clear()
