"""
Deferred interruption: Ctrl-C and SIGTERM take effect at safe points only.

Python raises KeyboardInterrupt between any two instructions of the main thread. In a library that was about to note the
thread it has started, the thread is never joined; in a finalizer, Python ignores the exception. So within
`deferred_interruption` a signal is only noted, and `check` raises KeyboardInterrupt where the main thread waits for
work of others: `next_item`, `result_of` and `adapters.pipe` call it. Elsewhere all of these only wait.
"""

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TypeVar

from attrs import define

T = TypeVar("T")

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""Continuous integration cancels with SIGTERM."""

POLL_SECONDS = 0.1
"""Seconds that the main thread waits between two safe points."""

PATIENCE_SECONDS = 1.0
"""Seconds to the next safe point after which a second signal raises KeyboardInterrupt at once."""


@define
class Interruption:
    """Whether a signal has arrived, and whether KeyboardInterrupt was raised for it."""

    since: float | None = None
    is_raised: bool = False

    @property
    def is_requested(self) -> bool:
        """Whether a signal has arrived."""
        return self.since is not None

    def handle_signal(self, _number: int, _frame: object) -> None:
        """Note the first signal. A later one raises, unless the cleanup has begun, which must not be interrupted."""
        if self.since is None:
            self.since = monotonic()
        elif not self.is_raised and monotonic() - self.since > PATIENCE_SECONDS:
            self._raise()

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal has arrived; once, because the cleanup has safe points, too."""
        if self.is_requested and not self.is_raised:
            self._raise()

    def _raise(self) -> None:
        self.is_raised = True
        raise KeyboardInterrupt


_interruptions: list[Interruption] = []
"""The interruptions of the blocks that are being executed, the innermost last."""


@contextmanager
def deferred_interruption() -> Iterator[Interruption]:
    """Defer Ctrl-C and SIGTERM to safe points while the block runs. Only the main thread can do so."""
    interruption = Interruption()
    former_handlers = {number: signal.signal(number, interruption.handle_signal) for number in SIGNALS}
    _interruptions.append(interruption)
    try:
        yield interruption
    finally:
        _interruptions.remove(interruption)
        for number, handler in former_handlers.items():
            signal.signal(number, handler)


def is_deferred() -> bool:
    """Tell whether this thread has to come to a safe point every `POLL_SECONDS`."""
    return bool(_interruptions) and threading.current_thread() is threading.main_thread()


def check() -> None:
    """Be a safe point: raise KeyboardInterrupt if a signal has arrived."""
    if is_deferred():
        _interruptions[-1].check()


def next_item(queue: SimpleQueue[T]) -> T:
    """Wait for the next item of a queue."""
    check()
    while is_deferred():
        with suppress(Empty):
            return queue.get(timeout=POLL_SECONDS)
        check()
    return queue.get()


def result_of(future: Future[T]) -> T:
    """Wait for the result of a future."""
    check()
    while is_deferred() and not wait([future], POLL_SECONDS).done:
        check()
    return future.result()


@contextmanager
def blocked_signals() -> Iterator[None]:
    """Block Ctrl-C and SIGTERM in this thread, and for good in the processes that it starts."""
    former = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)
