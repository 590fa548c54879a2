"""Remarks of engines for the user, such as which Java they use: on stderr, each once."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from conformance.cli.say import say

LOGGER = logging.getLogger("conformance.remarks")


class _Once(logging.Handler):
    """Prints each message once, because an engine is started more than once."""

    def __init__(self) -> None:
        super().__init__()
        self._printed: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        if (message := record.getMessage()) not in self._printed:
            self._printed.add(message)
            say(message, err=True)


@contextmanager
def printed_remarks() -> Iterator[None]:
    """Print remarks while a command runs."""
    handler, propagate = _Once(), LOGGER.propagate
    LOGGER.addHandler(handler)
    LOGGER.propagate = False
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.propagate = propagate
