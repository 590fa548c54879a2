"""The engine's side of a campaign: a thread that does nothing but keep the engine busy."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from types import TracebackType
from typing import Protocol, Self, TypeAlias

from attrs import frozen

from conformance.adapters.stdio import Stdio
from conformance.campaign.events import Outcome
from conformance.campaign.judging import RunVerdict, Submits, outcome
from conformance.campaign.plan import Planned
from conformance.engine import Description, RunRequest
from conformance.errors import EngineFailed, EngineUnavailable
from conformance.observation import Observations

Answer: TypeAlias = Observations | EngineFailed


def answers(engine: Stdio, description: Description, requests: Sequence[RunRequest]) -> Iterator[Answer]:
    """
    One answer for each request, in their order: what was observed, or how the engine failed.

    An engine that fails is started anew. If it runs one case after the other, it failed on the first that it had not
    answered. If it runs them at once, which one it was is found out by running those that are left one by one; if none
    of them fails alone, the first is the error all the same: the engine did fail.
    """
    waiting = list(requests)
    while waiting:
        try:
            for seen in engine.run(tuple(waiting)):
                del waiting[0]
                yield seen
        except EngineFailed as failed:
            _start_again(engine, description)
            if description.batch > 1 and len(waiting) > 1:
                alone = [answer for request in waiting for answer in answers(engine, description, [request])]
                if not any(isinstance(answer, EngineFailed) for answer in alone):
                    alone[0] = failed
                yield from alone
                return
            del waiting[0]
            yield failed


def _start_again(engine: Stdio, description: Description) -> None:
    try:
        again = engine.start()
    except EngineFailed as error:
        raise EngineUnavailable(f"it failed, and cannot be started again: {error}") from error
    if again != description:
        raise EngineUnavailable("it failed, and says something else of itself now that it was started again")


@frozen
class Ran:
    """What was observed of a case, and the verdict that is being reached."""

    seen: Observations
    ruling: Future[tuple[Outcome, RunVerdict]]


@frozen
class Dead:
    """Nothing can be run any more."""

    of: BaseException


class Drives(Protocol):
    """Whoever runs batches of cases, and gives what came of each, in order."""

    def give(self, batch: Sequence[Planned]) -> None:
        """Another batch, to be run when those before it are done."""
        ...

    def take(self) -> Ran | EngineFailed:
        """What came of the next case. Raises what ended the engine for good."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Driver:
    """
    Runs batches in the background, and gives what came of each case, in order.

    What comes is given to the judge at once, so that the engine goes on while we wait for a verdict.
    """

    def __init__(self, engine: Stdio, description: Description, deadline: float, judges: Submits) -> None:
        self._engine = engine
        self._description = description
        self._deadline = deadline
        self._judges = judges
        self._batches: SimpleQueue[Sequence[Planned] | None] = SimpleQueue()
        self._answers: SimpleQueue[Ran | EngineFailed | Dead] = SimpleQueue()
        self._open = 0
        self._thread = threading.Thread(target=self._drive, name="engine", daemon=True)
        self._thread.start()

    def _drive(self) -> None:
        try:
            while (batch := self._batches.get()) is not None:
                requests = [self._description.suited(planned.request(self._deadline)) for planned in batch]
                for planned, answer in zip(batch, answers(self._engine, self._description, requests), strict=True):
                    if isinstance(answer, EngineFailed):
                        self._answers.put(answer)
                    else:
                        self._answers.put(Ran(answer, self._judges.submit(outcome, planned.case, answer)))
        except BaseException as error:  # noqa: BLE001 - it is raised where somebody waits
            self._answers.put(Dead(error))

    def give(self, batch: Sequence[Planned]) -> None:
        self._open += len(batch)
        self._batches.put(batch)

    def take(self) -> Ran | EngineFailed:
        answer = self._answers.get()
        if isinstance(answer, Dead):
            raise answer.of
        self._open -= 1
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """No more batches. What nobody has taken yet, nobody will: it is given up."""
        self._batches.put(None)
        if self._open:
            self._engine.kill()
        self._thread.join()
