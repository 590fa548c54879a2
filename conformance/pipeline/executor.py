"""
A Spark cluster as an executor: Python functions that run in Spark's Python workers.

A Spark task costs about a tenth of a second, so work is divided into few, large slices. An exception would end a whole
Spark job and with it the work of all other slices, so what a function raises is returned as a value and raised here.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from traceback import format_exception
from typing import Any, ParamSpec, TypeVar
from uuid import uuid4

from attrs import frozen
from hypothesis.strategies import SearchStrategy

from conformance.adapters.stdio import Stdio
from conformance.campaign.batch_runner import BatchRunner, RunResult
from conformance.campaign.events import Began
from conformance.campaign.executor import Executor
from conformance.campaign.plan import Planned
from conformance.campaign.results import Results
from conformance.codec import encode_case
from conformance.errors import ConformanceError
from conformance.generators.collect import Numbered
from conformance.pipeline.slices import RequestedCase, SliceRow, result_of, run_slice, write_rows

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S")

SLICES_PER_CORE = 4
"""More than one, so that a core that is done early has more to do."""

CASES_PER_SLICE = 32
"""About a third of a second of work."""

BATCHES_AT_ONCE = 3
"""Batches that run on the cluster: the next one fills the cores that the last slices of this one leave idle."""

MODEL_ENGINES = ("reference", "mutant")
"""Engines that are made of the model, so they run on any machine of the cluster."""


class WorkFailed(ConformanceError):
    """A function raised an exception on the cluster, or the cluster cannot be reached."""

    exit_code = 70


@frozen
class Raised:
    """The traceback of an exception, as text: its class may not exist in this process."""

    traceback: str


def attempt(function: Callable[[S], T], item: S) -> T | Raised:
    """Call a function; return what it raises as a value."""
    try:
        return function(item)
    except Exception as error:  # noqa: BLE001 - an exception would end the whole Spark job
        return Raised("".join(format_exception(error)))


class ClusterExecutor(Executor):
    """A Spark session that draws cases, runs engines made of the model, and judges. Other engines run here."""

    def __init__(self, spark: Any) -> None:
        self._context = spark.sparkContext
        self._threads = ThreadPoolExecutor(self.cores + 1, thread_name_prefix="cluster")

    @property
    def cores(self) -> int:
        """The number of Spark tasks that run at the same time."""
        return int(self._context.defaultParallelism)

    @property
    def slices(self) -> int:
        """The number of slices that keep every core busy."""
        return self.cores * SLICES_PER_CORE

    @property
    def batch_size(self) -> int:
        """The number of cases in a batch: a few slices for every core."""
        return self.slices * CASES_PER_SLICE

    def numbered(self, strategy: SearchStrategy[Any], *, seed: int) -> Numbered[Any]:
        return ClusterNumbered(self, strategy, seed=seed)

    def map(self, function: Callable[[S], T], items: Sequence[S]) -> list[T]:
        """Call a function with each item, each in a slice of its own; return the results in their order."""
        if not items:
            return []
        rows = self._context.parallelize(items, len(items)).map(lambda item: attempt(function, item))
        return [_unless_raised(each) for each in rows.collect()]

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        def call(_: None) -> T:
            return function(*args, **kwargs)

        return self._threads.submit(lambda: self.map(call, [None])[0])

    def submit_all(self, calls: Sequence[Callable[[], T]]) -> list[Future[T]]:
        """Make many calls in few slices. Neighbours, which often take equally long, are put into different slices."""
        results: list[Future[T]] = [Future() for _ in calls]
        slices = min(self.slices, len(calls))
        for first in range(slices):
            done = self.submit(_call_all, calls[first::slices])
            done.add_done_callback(partial(_set_results, results[first::slices]))
        return results

    def batch_runner(self, engine: Stdio, began: Began, results: Results) -> BatchRunner:
        """Return what runs the batches of a campaign: on the cluster, if the engine is made of the model."""
        if began.engine.partition(":")[0] not in MODEL_ENGINES:
            return super().batch_runner(engine, began, results)
        name, deadline, tag = began.engine, began.deadline, f"batches-{uuid4()}"

        def run_one(part: Sequence[RequestedCase]) -> list[SliceRow]:
            return run_slice(name, deadline, part)

        def run(batch: Sequence[Planned]) -> Iterator[RunResult]:
            self._context.addJobTag(tag)
            requested = [(each.index, encode_case(each.case), each.sinks_only) for each in batch]
            parts = sliced(requested, -(-len(requested) // CASES_PER_SLICE))
            rows = [row for part in self.map(run_one, parts) for row in part]
            write_rows(results.slices(), batch[0].index, rows)
            return map(result_of, rows)

        return BatchRunner(run, cancel=lambda: self._context.cancelJobsWithTag(tag), threads=BATCHES_AT_ONCE)

    def close(self) -> None:
        """Cancel all jobs of the session. The session itself stays open."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._context.cancelAllJobs()
        self._threads.shutdown(wait=True)


class ClusterNumbered(Numbered[Any]):
    """Values by number, drawn on a cluster, as many at a time as keep it busy."""

    def __init__(self, executor: ClusterExecutor, strategy: SearchStrategy[Any], *, seed: int) -> None:
        super().__init__(strategy, seed=seed)
        self._executor = executor
        self._strategy = strategy
        self._known: dict[int, Any] = {}

    def get(self, number: int) -> Any:
        if number not in self._known:
            size = self._executor.batch_size
            strategy, seed = self._strategy, self.seed

            def draw(numbers: Sequence[int]) -> list[Any]:
                local: Numbered[Any] = Numbered(strategy, seed=seed)
                return [local.get(each) for each in numbers]

            first = number - number % size
            numbers = range(first, first + size)
            drawn = self._executor.map(draw, sliced(numbers, self._executor.slices))
            self._known |= dict(zip(numbers, (value for part in drawn for value in part), strict=True))
        return self._known[number]


def _call_all(calls: Sequence[Callable[[], T]]) -> list[T]:
    return [call() for call in calls]


def _set_results(results: Sequence[Future[T]], done: Future[list[T]]) -> None:
    for index, result in enumerate(results):
        if done.cancelled():
            result.cancel()
        elif (error := done.exception()) is not None:
            result.set_exception(error)
        else:
            result.set_result(done.result()[index])


def _unless_raised(value: T | Raised) -> T:
    if isinstance(value, Raised):
        raise WorkFailed(
            "a slice failed on the cluster; check that this version of dataflow-conformance is installed there:\n"
            f"{value.traceback}"
        )
    return value


def sliced(items: Sequence[T], slices: int) -> list[Sequence[T]]:
    """Divide items into so many slices of almost equal length, in their order; none is empty."""
    slices = min(slices, len(items))
    ends = [len(items) * number // slices for number in range(1, slices + 1)] if slices else []
    return [items[start:end] for start, end in zip([0, *ends], ends, strict=False)]
