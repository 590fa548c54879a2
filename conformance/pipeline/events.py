"""Values of a dataset as events, and back. A column of text has each event as JSON, in the one way to write it."""

import json
from functools import lru_cache
from typing import Any

from conformance.case import check_epochs
from conformance.codec.cases import canonical
from conformance.errors import Malformed
from conformance.pipeline.dataset import Kind
from conformance.programs import Event


def event_of(value: Any, kind: Kind) -> Event:
    """A value as an event."""
    return int(value) if kind == "integers" else parsed(value)


@lru_cache(maxsize=100_000)
def parsed(text: str) -> Event:
    """A value of a column of text as an event. It has been checked."""
    event: Event = json.loads(text)
    return event


@lru_cache(maxsize=100_000)
def is_event(text: str) -> bool:
    """Whether that is an event, written as it must be: what is equal must look equal, because hashes are compared."""
    try:
        event = json.loads(text)
        check_epochs(((event,),))
    except (ValueError, RecursionError, Malformed):
        return False
    return canonical(event) == text


def are_events(values: Any) -> Any:
    """The same for a column, in one of Spark's workers. A border, which is null, is no event and not wrong."""
    return values.map(lambda text: not isinstance(text, str) or is_event(text)).astype(bool)


# Spark looks at the annotations of such a function, and wants those of pandas or none.
are_events.__annotations__.clear()
