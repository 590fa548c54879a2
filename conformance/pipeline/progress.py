"""Progress of a Spark job, reported every few seconds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

INTERVAL = 5.0
"""Seconds between two reports."""


@contextmanager
def report_progress(counted: Any, total: int, tell: Callable[[str], None]) -> Iterator[None]:
    """Report the value of an accumulator while the block runs. It grows when a Spark task ends."""
    done = Event()

    def watch() -> None:
        reported = 0
        while not done.wait(INTERVAL):
            if (rows := counted.value) != reported:
                reported = rows
                tell(f"{rows:,} of {total:,} rows")

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
