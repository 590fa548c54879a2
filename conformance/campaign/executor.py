"""Where a campaign's own work is done: drawing cases, running the model, judging. Here, or on a cluster."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Protocol, TypeVar

from hypothesis.strategies import SearchStrategy

from conformance.adapters.stdio import Stdio
from conformance.campaign.batch_runner import Driver, Drives
from conformance.campaign.events import Began
from conformance.campaign.judging import Judges, Submits
from conformance.campaign.results import Results
from conformance.generators.collect import Numbered

T = TypeVar("T")


class Place(Submits, Protocol):
    """Somewhere to work. What comes of it is the same everywhere."""

    @property
    def at_once(self) -> int:
        """How many cases are handed over together, for an engine that runs one after the other."""
        ...

    def numbered(self, strategy: SearchStrategy[Any], *, seed: int) -> Numbered[Any]:
        """The values of a strategy under a seed, drawn there."""
        ...

    def each(self, todo: Sequence[Callable[[], T]]) -> list[Future[T]]:
        """Do many things there, of which none has to be done before another."""
        ...

    def driver(self, engine: Stdio, began: Began, results: Results) -> Drives:
        """What runs the cases of a campaign."""
        ...

    def close(self) -> None:
        """End whatever is under way."""
        ...


class Here(Judges):
    """On this machine: a thread that keeps the engine busy, and processes that judge."""

    at_once = 8

    def numbered(self, strategy: SearchStrategy[Any], *, seed: int) -> Numbered[Any]:
        return Numbered(strategy, seed=seed)

    def each(self, todo: Sequence[Callable[[], T]]) -> list[Future[T]]:
        return [self.submit(one) for one in todo]

    def driver(self, engine: Stdio, began: Began, results: Results) -> Drives:  # noqa: ARG002 - others keep more there
        return Driver(engine, began.description, began.deadline, self)
