"""Where the suite's own work runs: drawing cases, running the model and judging, on this machine or on a cluster."""

import multiprocessing
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from typing import Any, ParamSpec, TypeVar

from hypothesis.strategies import SearchStrategy

from conformance.adapters.stdio import Stdio
from conformance.campaign.batch_runner import BatchRunner, PendingVerdict, RunResult, run_with_restarts
from conformance.campaign.events import Began
from conformance.campaign.judging import judge_outcome
from conformance.campaign.plan import Planned
from conformance.campaign.results import Results
from conformance.errors import EngineFailed
from conformance.generators.collect import Numbered
from conformance.interruption import blocked_signals

P = ParamSpec("P")
T = TypeVar("T")


class Executor(ABC):
    """Runs and judges batches of cases. Every executor gives the same results."""

    @property
    @abstractmethod
    def batch_size(self) -> int:
        """The number of cases in a batch, for an engine that runs one case after the other."""

    @abstractmethod
    def numbered(self, strategy: SearchStrategy[Any], *, seed: int) -> Numbered[Any]:
        """Return the values of a strategy under a seed, by number."""

    @abstractmethod
    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call a function in the background."""

    @abstractmethod
    def submit_all(self, calls: Sequence[Callable[[], T]]) -> list[Future[T]]:
        """Make many calls in the background, in any order."""

    @abstractmethod
    def close(self) -> None:
        """Cancel all calls and release all resources."""

    def batch_runner(self, engine: Stdio, began: Began, results: Results) -> BatchRunner:  # noqa: ARG002 - see cluster
        """Return what runs the batches of a campaign on its engine."""
        return BatchRunner(partial(self.run_batch, engine, began), cancel=engine.kill)

    def run_batch(self, engine: Stdio, began: Began, batch: Sequence[Planned]) -> Iterator[RunResult]:
        """
        Run the cases of a batch on an engine, and yield their results in order.

        A run is judged in the background, so that the engine never waits for the judge.
        """
        requests = [began.description.with_required_streams(planned.request(began.deadline)) for planned in batch]
        for planned, answer in zip(batch, run_with_restarts(engine, began.description, requests), strict=True):
            if isinstance(answer, EngineFailed):
                yield answer
            else:
                yield PendingVerdict(answer, self.submit(judge_outcome, planned.case, answer))


class LocalExecutor(Executor):
    """A pool of processes on this machine judges."""

    batch_size = 8

    def __init__(self, processes: int | None = None) -> None:
        self._pool = ProcessPoolExecutor(
            processes or max(1, (os.cpu_count() or 2) - 1),
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_end_with_parent,
        )

    def numbered(self, strategy: SearchStrategy[Any], *, seed: int) -> Numbered[Any]:
        return Numbered(strategy, seed=seed)

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        # It may start a process. Ctrl-C is handled by this one.
        with blocked_signals():
            return self._pool.submit(function, *args, **kwargs)

    def submit_all(self, calls: Sequence[Callable[[], T]]) -> list[Future[T]]:
        return [self.submit(call) for call in calls]

    def close(self) -> None:
        """Kill the processes, also those that are busy."""
        processes = list((self._pool._processes or {}).values())  # noqa: SLF001 - public from Python 3.14 on
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()
        self._pool.shutdown(wait=True)


def _end_with_parent() -> None:
    """Exit when the parent process is gone, for any reason."""
    parent = multiprocessing.parent_process()
    assert parent is not None  # noqa: S101 - this runs in a child

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
