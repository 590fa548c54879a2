"""
A campaign's own work on a cluster: cases are drawn, run on the model or on mutants, and judged there.

What comes back is what would have come of it here, case by case, and goes the same way, into the same journal. It is
kept as Parquet too, one file for each round, for whoever wants to ask questions of a large campaign.
"""

import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeAlias, TypeVar

from hypothesis.strategies import SearchStrategy

from conformance.adapters.serve import answered
from conformance.adapters.stdio import Stdio
from conformance.campaign.batch_runner import Driver, Drives, Ran
from conformance.campaign.events import Began, Outcome
from conformance.campaign.journal import CONVERTER
from conformance.campaign.judging import RunVerdict, outcome
from conformance.campaign.plan import Planned, request_of
from conformance.campaign.results import Results
from conformance.case import Case
from conformance.codec import decode_case, decode_observations, digest, encode_case, encode_observations
from conformance.errors import EngineFailed
from conformance.generators.collect import Numbered
from conformance.observation import Observations
from conformance.pipeline.work import SLICES_A_CORE, Cluster, sliced
from conformance.registry import engine as engine_named

P = ParamSpec("P")
T = TypeVar("T")

SLICE = 32
"""Cases in a slice: about a third of a second."""

OF_THE_MODEL = ("reference", "mutant")
"""Engines that are made of the model, so that they can run anywhere."""

Row: TypeAlias = dict[str, Any]


class OnCluster:
    """A cluster, as the place of a campaign."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @property
    def at_once(self) -> int:
        """A round: so much that every core has a few slices."""
        return self._cluster.cores * SLICES_A_CORE * SLICE

    def numbered(self, strategy: SearchStrategy[Any], *, seed: int) -> Numbered[Any]:
        return Spread(self._cluster, self.at_once, strategy, seed=seed)

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        return self._cluster.submit(function, *args, **kwargs)

    def each(self, todo: Sequence[Callable[[], T]]) -> list[Future[T]]:
        return self._cluster.each(todo)

    def driver(self, engine: Stdio, began: Began, results: Results) -> Drives:
        if began.engine.partition(":")[0] in OF_THE_MODEL:
            return Sliced(self._cluster, began, results.slices())
        # Any other engine runs where it runs; what was seen of it is judged on the cluster.
        return Driver(engine, began.description, began.deadline, self)

    def close(self) -> None:
        self._cluster.close()


class Spread(Numbered[Any]):
    """Values by number, drawn on a cluster, a round at a time."""

    def __init__(self, cluster: Cluster, at_once: int, strategy: SearchStrategy[Any], *, seed: int) -> None:
        super().__init__(strategy, seed=seed)
        self._cluster = cluster
        self._at_once = at_once
        self._strategy = strategy
        self._known: dict[int, Any] = {}

    def get(self, number: int) -> Any:
        if number not in self._known:
            first = number - number % self._at_once
            strategy, seed = self._strategy, self.seed

            def draw(numbers: Sequence[int]) -> list[Any]:
                here: Numbered[Any] = Numbered(strategy, seed=seed)
                return [here.get(each) for each in numbers]

            numbers = range(first, first + self._at_once)
            drawn = self._cluster.map(draw, sliced(numbers, self._cluster.cores * SLICES_A_CORE))
            self._known |= dict(zip(numbers, (value for part in drawn for value in part), strict=True))
        return self._known[number]


class Sliced:
    """Runs batches of cases on a cluster: each is a round there."""

    def __init__(self, cluster: Cluster, began: Began, folder: Path) -> None:
        self._cluster = cluster
        self._began = began
        self._folder = folder
        self._rounds: deque[Future[list[Row]]] = deque()
        self._answers: Iterator[Ran] = iter(())

    def give(self, batch: Sequence[Planned]) -> None:
        if batch:
            self._rounds.append(self._cluster.threaded(self._round, batch))

    def _round(self, batch: Sequence[Planned]) -> list[Row]:
        word, deadline = self._began.engine, self._began.deadline
        asked = [(each.index, encode_case(each.case), each.sinks_only) for each in batch]

        def run(part: Sequence[tuple[int, Any, bool]]) -> list[Row]:
            return run_slice(word, deadline, part)

        slices = -(-len(asked) // SLICE)
        rows = [row for part in self._cluster.map(run, sliced(asked, slices)) for row in part]
        keep(self._folder, batch[0].index, rows)
        return rows

    def take(self) -> Ran | EngineFailed:
        while (ran := next(self._answers, None)) is None:
            self._answers = map(_ran, self._rounds.popleft().result())
        return ran

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """What nobody has taken yet, nobody will."""
        for each in self._rounds:
            each.cancel()


def run_slice(word: str, deadline: float, part: Sequence[tuple[int, Any, bool]]) -> list[Row]:
    """Some cases on an engine of the model, judged: what runs on the cluster."""
    made = engine_named(word)
    description = made.start()
    requests = []
    for index, case, sinks_only in part:
        request = request_of(decode_case(case), sinks_only=sinks_only, deadline=deadline)
        requests.append((index, description.suited(request)))
    cases = {index: request.case for index, request in requests}
    try:
        return [_row(index, cases[index], seen) for index, seen in answered(made, description, requests)]
    finally:
        made.stop()


def _row(index: int, case: Case, seen: Observations) -> Row:
    what, ruling = outcome(case, seen)
    return {
        "index": index,
        "digest": digest(case),
        "outcome": what,
        "case": _text(encode_case(case)),
        "observations": _text(encode_observations(seen)),
        "ruling": _text(CONVERTER.unstructure(ruling)),
    }


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _ran(row: Row) -> Ran:
    """What a row tells, as if it had just happened here."""
    ruling: Future[tuple[Outcome, RunVerdict]] = Future()
    ruling.set_result((row["outcome"], CONVERTER.structure(json.loads(row["ruling"]), RunVerdict)))
    return Ran(decode_observations(json.loads(row["observations"])), ruling)


def keep(folder: Path, first: int, rows: Sequence[Row]) -> None:
    """A round as a file that is there as a whole or not at all."""
    import pyarrow as pa  # noqa: PLC0415 - who is here has it, and nobody else needs it
    import pyarrow.parquet as pq  # noqa: PLC0415

    folder.mkdir(exist_ok=True)
    unfinished = folder / f".cases-{first:06}.parquet.part"
    pq.write_table(pa.Table.from_pylist(list(rows)), unfinished)
    unfinished.replace(folder / f"cases-{first:06}.parquet")
