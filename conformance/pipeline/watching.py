"""What a long job has done so far, told every few seconds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

EVERY = 5.0
"""Seconds."""


@contextmanager
def watched(counted: Any, total: int, tell: Callable[[str], None]) -> Iterator[None]:
    """Tell of an accumulator as it grows, for as long as the block lasts. It grows when a task of Spark ends."""
    done = Event()

    def look() -> None:
        told = 0
        while not done.wait(EVERY):
            if (now := counted.value) != told:
                told = now
                tell(f"{now:,} of {total:,} rows")

    thread = Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
