"""
A cluster as a place to work: functions of ours, run in Spark's Python workers.

A task costs Spark about a tenth of a second, so work is given to it in few, fat slices. An exception would end a whole
job and with it the work of all other slices, so what a function raises comes back as a value and is raised here.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from traceback import format_exception
from typing import Any, ParamSpec, TypeVar

from attrs import frozen

from conformance.errors import ConformanceError

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S")

SLICES_A_CORE = 4
"""So that who is done early has something else to do."""


class WorkFailed(ConformanceError):
    """Something went wrong on the cluster: in our code there, or because it is not there."""

    exit_code = 70


@frozen
class Raised:
    """What a function raised, in words: exceptions of theirs may not exist here."""

    words: str


def attempt(function: Callable[[S], T], item: S) -> T | Raised:
    """A value, in any case."""
    try:
        return function(item)
    except Exception as error:  # noqa: BLE001 - that is the point
        return Raised("".join(format_exception(error)))


class Cluster:
    """A Spark session, as a place to do work."""

    def __init__(self, spark: Any) -> None:
        self._context = spark.sparkContext
        self._threads = ThreadPoolExecutor(self.cores + 1, thread_name_prefix="cluster")

    @property
    def cores(self) -> int:
        """How much can be done at once."""
        return int(self._context.defaultParallelism)

    def map(self, function: Callable[[S], T], items: Sequence[S]) -> list[T]:
        """What a function makes of each item, each in a slice of its own; in their order."""
        if not items:
            return []
        rows = self._context.parallelize(items, len(items)).map(lambda item: attempt(function, item))
        return [_unless_raised(each) for each in rows.collect()]

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """One thing, to be done when there is a core for it."""

        def call(_: None) -> T:
            return function(*args, **kwargs)

        return self.threaded(lambda: self.map(call, [None])[0])

    def each(self, todo: Sequence[Callable[[], T]]) -> list[Future[T]]:
        """Many things, in few slices. Neighbours, which are often alike, come into different ones."""
        results: list[Future[T]] = [Future() for _ in todo]
        slices = min(self.cores * SLICES_A_CORE, len(todo))
        for first in range(slices):
            done = self.submit(_in_turn, todo[first::slices])
            done.add_done_callback(partial(_hand_out, results[first::slices]))
        return results

    def threaded(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Something that is done here, and waits for the cluster most of the time."""
        return self._threads.submit(function, *args, **kwargs)

    def close(self) -> None:
        """Nothing more is wanted."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._context.cancelAllJobs()
        self._threads.shutdown(wait=True)


def _in_turn(todo: Sequence[Callable[[], T]]) -> list[T]:
    return [one() for one in todo]


def _hand_out(results: Sequence[Future[T]], done: Future[list[T]]) -> None:
    for place, result in enumerate(results):
        if done.cancelled():
            result.cancel()
        elif (error := done.exception()) is not None:
            result.set_exception(error)
        else:
            result.set_result(done.result()[place])


def _unless_raised(value: T | Raised) -> T:
    if isinstance(value, Raised):
        raise WorkFailed(f"a slice failed on the cluster (is this very version installed there?):\n{value.words}")
    return value


def sliced(items: Sequence[T], slices: int) -> list[Sequence[T]]:
    """Items in so many slices, of equal length or almost, in their order; none is empty."""
    slices = min(slices, len(items))
    ends = [len(items) * number // slices for number in range(1, slices + 1)] if slices else []
    return [items[start:end] for start, end in zip([0, *ends], ends, strict=False)]
