"""One query's folder: its cases, its input, what is committed, and what was observed of each case over time."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from adapters.spark.committed import Batch, Committed
from adapters.spark.layout import Layout, layouts
from adapters.spark.operators import COLUMNS, Strikes
from conformance.case import Epochs, Restart
from conformance.codec import digest, encode_case
from conformance.engine import Job
from conformance.observation import EngineInfo, Fired, Observation, Observations

LONG_AGO = 1_000_000_000
"""A time for files: their order is that of their times, so each gets one of its own."""


class Seen:
    """What was seen of one case."""

    def __init__(self, job: Job, strikes: Strikes) -> None:
        self.job = job
        self.strikes = strikes
        self.observations: list[Observation] = []
        self.fired: list[Fired] = []
        self._due = True
        self._shown = -1

    def look(self, batches: Sequence[Batch], t: float, *, last: bool) -> None:
        """Note which failures have struck, and what can be seen, if that is something else or one has struck."""
        while len(self.fired) < len(self.job.case.failures) and self.strikes.place(len(self.fired)).exists():
            number = len(self.fired)
            evidence = self.strikes.place(number).read_text(encoding="utf-8")
            self.fired.append(Fired(number, len(self.observations), evidence, t))
            self._due = True
        shown = min(len(batches), self.job.case.epochs)
        if shown != self._shown or self._due or last:
            self._shown, self._due = shown, False
            self.observations.append(Observation(self._streams(batches[:shown]), t))

    def _streams(self, batches: Sequence[Batch]) -> dict[str, Epochs]:
        """By observed stream the events of each committed epoch, by their numbers, and as many as there are."""
        return {
            stream: tuple(
                tuple(
                    json.loads(row["value"])
                    for row in sorted(batch.get((self.strikes.case, stream), ()), key=lambda row: row["seq"])
                    if "value" in row
                )
                for batch in batches
            )
            for stream in sorted(self.job.streams)
        }


class Query:
    """A folder in which a query runs, and can be gone on with by another driver."""

    def __init__(self, folder: Path, jobs: Sequence[Job]) -> None:
        self._folder = folder
        self._began = monotonic()
        self._epochs = max(job.case.epochs for job in jobs)
        self._fed = 0
        self._batch = layouts([(job.case, job.streams) for job in jobs])
        for name in ("in", "struck"):
            (folder / name).mkdir(parents=True)
        spec = [{"case": encode_case(job.case), "streams": sorted(job.streams)} for job in jobs]
        (folder / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
        self._committed = Committed(folder)
        self._seen = [Seen(job, Strikes(str(folder), number, job.case.failures)) for number, job in enumerate(jobs)]
        self._feed()

    @property
    def is_done(self) -> bool:
        """Whether every epoch is committed."""
        return len(self._committed.batches()) >= self._epochs and not self.wants_restart()

    def _feed(self) -> None:
        """Give the query its input, as far as the next epoch after which it is to be restarted."""
        while self._fed < self._epochs and self._fed < self._until():
            self._fed += 1
            self._write(self._fed)

    def _until(self) -> int:
        """The epoch up to which the query may go before something has to be done."""
        restarts = [
            f.epoch for seen in self._seen for f in seen.job.case.failures[len(seen.fired) :] if isinstance(f, Restart)
        ]
        return min(restarts, default=self._epochs)

    def _write(self, epoch: int) -> None:
        """An epoch's events and borders: a file that is there at once, and is read as a batch of its own."""
        rows = [row for number, each in enumerate(self._batch) for row in _rows(number, each, epoch)]
        unfinished = self._folder / "epoch.part"
        unfinished.write_text(
            "".join(json.dumps(dict(zip(COLUMNS, row, strict=True))) + "\n" for row in rows), encoding="utf-8"
        )
        os.utime(unfinished, (LONG_AGO + epoch, LONG_AGO + epoch))
        unfinished.replace(self._folder / "in" / f"epoch-{epoch:06}.json")

    def wants_restart(self) -> bool:
        """Whether a case asks for a restart now: the failures before it have happened, and its epoch is committed."""
        committed = len(self._committed.batches())
        return any(_is_next(seen, committed) for seen in self._seen)

    def restarted(self) -> None:
        """The query was stopped in good order, and will be started again."""
        committed = len(self._committed.batches())
        for seen in self._seen:
            if _is_next(seen, committed):
                place = seen.strikes.place(len(seen.fired))
                place.write_text(f"the query was stopped with {committed} epochs committed", encoding="utf-8")
        self.look()
        self._feed()

    def look(self, *, last: bool = False) -> None:
        """See what is committed."""
        batches = self._committed.batches()
        t = round(monotonic() - self._began, 3)
        for seen in self._seen:
            seen.look(batches, t, last=last)

    def observations(self, info: EngineInfo) -> list[Observations]:
        """What was seen of each case."""
        return [
            Observations(
                digest(seen.job.case),
                tuple(seen.observations),
                info,
                fired=tuple(seen.fired),
                end="completed" if self.is_done else "stalled",
            )
            for seen in self._seen
        ]


def _is_next(seen: Seen, committed: int) -> bool:
    failures = seen.job.case.failures
    if len(seen.fired) == len(failures):
        return False
    failure = failures[len(seen.fired)]
    return isinstance(failure, Restart) and committed >= failure.epoch


def _rows(number: int, layout: Layout, epoch: int) -> list[tuple[Any, ...]]:
    """What the sources of one case bring in one epoch, addressed to whoever reads it first."""
    case = layout.case
    if epoch > case.epochs:
        return []
    rows: list[tuple[Any, ...]] = []
    for source in case.graph.sources:
        events = case.inputs[source][epoch - 1]
        for task, inp in layout.routes[1, source]:
            rows += [(number, task, inp, source, epoch, seq, json.dumps(e)) for seq, e in enumerate(events)]
            rows.append((number, task, inp, source, epoch, len(events), None))
    return rows
