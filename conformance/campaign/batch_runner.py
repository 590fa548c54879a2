"""Batches of cases that run in the background, and their results in the order of the cases."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from types import TracebackType
from typing import Self, TypeAlias

from attrs import frozen

from conformance.adapters.stdio import Stdio
from conformance.campaign.events import Outcome
from conformance.campaign.judging import RunVerdict
from conformance.campaign.plan import Planned
from conformance.engine import Description, RunRequest
from conformance.errors import EngineFailed, EngineUnavailable
from conformance.interruption import next_item
from conformance.observation import Observations


def run_with_restarts(
    engine: Stdio, description: Description, requests: Sequence[RunRequest]
) -> Iterator[Observations | EngineFailed]:
    """
    Run requests on an engine; yield one answer for each, in their order: observations, or how the engine failed.

    An engine that fails is restarted. If it runs one case after the other, it failed on the first unanswered request.
    If it runs them at once, each unanswered request is run alone to find the one at fault; if none fails alone, the
    first is the error all the same: the engine did fail.
    """
    waiting = list(requests)
    while waiting:
        try:
            for seen in engine.run(tuple(waiting)):
                del waiting[0]
                yield seen
        except EngineFailed as failed:
            _restart(engine, description)
            if description.batch > 1 and len(waiting) > 1:
                yield from _run_alone(engine, description, waiting, failed)
                return
            del waiting[0]
            yield failed


def _run_alone(
    engine: Stdio, description: Description, requests: Sequence[RunRequest], failed: EngineFailed
) -> Iterator[Observations | EngineFailed]:
    """Run each request alone, after they have failed together. From the first failure on, yield each answer at once."""
    held: list[Observations | EngineFailed] = []
    fails_alone = False
    for request in requests:
        for answer in run_with_restarts(engine, description, [request]):
            fails_alone = fails_alone or isinstance(answer, EngineFailed)
            held.append(answer)
        if fails_alone:
            yield from held
            held.clear()
    if held:
        yield failed
        yield from held[1:]


def _restart(engine: Stdio, description: Description) -> None:
    try:
        restarted = engine.start()
    except EngineFailed as error:
        raise EngineUnavailable(f"it failed, and cannot be started again: {error}") from error
    if restarted != description:
        raise EngineUnavailable("it failed, and describes itself differently after a restart")


@frozen
class PendingVerdict:
    """The observations of a run, and its verdict, which may still be computed."""

    seen: Observations
    verdict: Future[tuple[Outcome, RunVerdict]]


RunResult: TypeAlias = PendingVerdict | EngineFailed


@frozen
class _BatchEnded:
    """The end of a batch. After an error the runner runs nothing else."""

    error: BaseException | None = None


class BatchRunner:
    """
    Runs batches of cases on threads of its own. Results come in the order of the cases, each as soon as it is there.

    `run_batch` runs one batch; `cancel` makes those that are running end early.
    """

    def __init__(
        self,
        run_batch: Callable[[Sequence[Planned]], Iterable[RunResult]],
        *,
        cancel: Callable[[], None],
        threads: int = 1,
    ) -> None:
        self._run_batch = run_batch
        self._cancel = cancel
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="batch")
        self._batches: deque[SimpleQueue[RunResult | _BatchEnded]] = deque()
        self._failed = False
        self._missing = 0

    def submit(self, batch: Sequence[Planned]) -> None:
        """Run a batch when a thread is free."""
        if batch:
            results: SimpleQueue[RunResult | _BatchEnded] = SimpleQueue()
            self._missing += len(batch)
            self._batches.append(results)
            self._pool.submit(self._run, batch, results)

    def _run(self, batch: Sequence[Planned], results: SimpleQueue[RunResult | _BatchEnded]) -> None:
        try:
            for result in self._run_batch(batch) if not self._failed else ():
                results.put(result)
            results.put(_BatchEnded())
        except BaseException as error:  # noqa: BLE001 - `next_result` raises it
            self._failed = True
            results.put(_BatchEnded(error))

    def next_result(self) -> RunResult:
        """Wait for the result of the next case. Raises what ended its batch."""
        while not isinstance(result := next_item(self._batches[0]), PendingVerdict | EngineFailed):
            if result.error is not None:
                raise result.error
            self._batches.popleft()
        self._missing -= 1
        return result

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cancel all batches whose results were not taken."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self._missing:
            self._cancel()
        self._pool.shutdown(wait=True)
