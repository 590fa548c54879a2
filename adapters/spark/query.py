"""One query's folder: its cases, its input, what is committed, and what was observed of each case over time."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from time import monotonic, time
from typing import Any

from conformance.adapters.spark.batch_progress import WRITTEN, Window, reached, windows
from conformance.adapters.spark.committed import Committed, Epoch, Offsets
from conformance.adapters.spark.layout import Layout, layouts, owner
from conformance.adapters.spark.operators import COLUMNS, STRUCK, Strikes
from conformance.adapters.spark.schedule import Group
from conformance.adapters.spark.setup import USUAL, Setup
from conformance.case import Epochs, Failure, Kill, Restart
from conformance.codec import digest, encode_case
from conformance.engine import RunRequest
from conformance.observation import End, EngineInfo, Fired, Observation, Observations

LONG_AGO = 1_000_000_000
"""A time for files: their order is that of their times, so each gets one of its own."""

PARTITIONS = int(USUAL["spark.sql.shuffle.partitions"])


class Seen:
    """What was seen of one case."""

    def __init__(self, job: RunRequest, strikes: Strikes) -> None:
        self.job = job
        self.strikes = strikes
        self.observations: list[Observation] = []
        self.fired: list[Fired] = []
        self._due = True
        self._shown = -1

    @property
    def next_failure(self) -> Failure | None:
        """What has not happened yet."""
        failures = self.job.case.failures
        return failures[len(self.fired)] if len(self.fired) < len(failures) else None

    def look(self, epochs: Sequence[Epoch], struck: frozenset[str], t: float, *, last: bool) -> None:
        """Note which failures have struck, and what can be seen, if that is something else or one has struck."""
        while (place := self.strikes.place(number := len(self.fired))).name in struck:
            evidence = place.read_text(encoding="utf-8")
            self.fired.append(Fired(number, len(self.observations), evidence, t))
            self._due = True
        shown = min(len(epochs), self.job.case.epochs)
        if shown != self._shown or self._due or last:
            self._shown, self._due = shown, False
            self.observations.append(Observation(self._streams(epochs[:shown]), t))

    def _streams(self, epochs: Sequence[Epoch]) -> dict[str, Epochs]:
        """By observed stream the events of each committed epoch."""
        return {
            stream: tuple(
                tuple(json.loads(row["value"]) for row in epoch.get((self.strikes.case, stream), ()) if "value" in row)
                for epoch in epochs
            )
            for stream in sorted(self.job.streams)
        }


class Query:
    """A folder in which a query runs, and can be gone on with by another driver."""

    def __init__(self, folder: Path, group: Group, setup: Setup) -> None:
        self.folder = folder
        self.group = group
        self.message: str | None = None
        self._began = monotonic()
        self._since = time()
        self._epochs = max(job.case.epochs for job in group.jobs)
        self._fed = 0
        self._batch = layouts([(job.case, job.streams) for job in group.jobs])
        self._windows = windows(group.jobs[0], PARTITIONS * self._batch[0].depth)
        self._committed = Committed(folder, setup.sink)
        self._offsets = Offsets(folder)
        self._seen = [
            Seen(job, Strikes(str(folder), number, job.case.failures, frozenset(windows(job, stores=1))))
            for number, job in enumerate(group.jobs)
        ]
        for name in ("in", STRUCK, WRITTEN):
            (folder / name).mkdir(parents=True)
        self._write_spec(setup)
        self._feed()

    def _write_spec(self, setup: Setup) -> None:
        cases = [
            {
                "case": encode_case(seen.job.case),
                "streams": sorted(seen.job.streams),
                "awaited": sorted(seen.strikes.awaited),
            }
            for seen in self._seen
        ]
        spec = {"cases": cases, "sink": setup.sink, "operator": setup.operator}
        (self.folder / "spec.json").write_text(json.dumps(spec), encoding="utf-8")

    @property
    def is_done(self) -> bool:
        """Whether every epoch is committed."""
        return len(self._committed) >= self._epochs and not self.wants_restart()

    def begins(self) -> None:
        """A driver is about to begin, or to go on."""
        self._since = time()

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
        unfinished = self.folder / "epoch.part"
        unfinished.write_text(
            "".join(json.dumps(dict(zip(COLUMNS, row, strict=True))) + "\n" for row in rows), encoding="utf-8"
        )
        os.utime(unfinished, (LONG_AGO + epoch, LONG_AGO + epoch))
        unfinished.replace(self.folder / "in" / f"epoch-{epoch:06}.json")

    def wants_restart(self) -> bool:
        """Whether a case asks for a restart now: the failures before it have happened, and its epoch is committed."""
        committed = len(self._committed)
        return any(_is_next(seen, committed) for seen in self._seen)

    def restarted(self) -> None:
        """The query was stopped in good order, and will be started again."""
        committed = len(self._committed)
        for seen in self._seen:
            if _is_next(seen, committed):
                seen.strikes.note(len(seen.fired), f"the query was stopped with {committed} epochs committed")
        self.look()
        self._feed()

    def awaited(self) -> tuple[Kill, Window | None] | None:
        """
        The next kill that is to come from outside, and when: in a window, or as soon as the query has begun again.

        It is a failure of every case there is. Where it falls was decided for the first of them.
        """
        first = self._seen[0]
        for number, when in self._windows.items():
            if number >= len(first.fired):
                kill = first.job.case.failures[number]
                assert isinstance(kill, Kill)  # noqa: S101 - nothing else is awaited
                return kill, when
        return None

    @property
    def is_due(self) -> bool:
        """Whether what is awaited is the next failure of every case."""
        return all(len(seen.fired) in seen.strikes.awaited for seen in self._seen)

    @property
    def struck(self) -> int:
        """How many failures have happened, as far as was seen."""
        return sum(len(seen.fired) for seen in self._seen)

    @property
    def loses_its_driver(self) -> bool:
        """Whether a driver is still to be killed."""
        left = self._seen[0].job.case.failures[len(self._seen[0].fired) :]
        return any(isinstance(failure, Kill) and failure.target == "coordinator" for failure in left)

    def is_next(self, epoch: int) -> bool:
        """Whether an epoch is in the next batch to be committed."""
        return self._committed.batches == self._offsets.batch(epoch)

    def is_open(self, window: Window, epoch: int) -> bool:
        """Whether the driver is where it is to be killed."""
        return window.is_open(reached(self.folder, epoch, self._offsets.batch(epoch), self._since))

    def killed(self, words: str) -> None:
        """The kill that was awaited has happened, to all of them."""
        for seen in self._seen:
            seen.strikes.note(len(seen.fired), words)

    def look(self, *, last: bool = False) -> None:
        """See what is committed."""
        epochs = self._committed.epochs()
        struck = frozenset(os.listdir(self.folder / STRUCK))  # noqa: PTH208 - fifty times a second
        t = round(monotonic() - self._began, 3)
        for seen in self._seen:
            seen.look(epochs, struck, t, last=last)

    def observations(self, info: EngineInfo) -> list[Observations]:
        """What was seen of each case."""
        end: End = "completed" if self.is_done else "error" if self.message else "stalled"
        return [
            Observations(
                digest(seen.job.case),
                tuple(seen.observations),
                info,
                fired=tuple(seen.fired),
                end=end,
                message=self.message if end == "error" else None,
            )
            for seen in self._seen
        ]


def _is_next(seen: Seen, committed: int) -> bool:
    failure = seen.next_failure
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
            to = (owner(number, task), number, task, inp, source, epoch)
            rows += [(*to, seq, json.dumps(event)) for seq, event in enumerate(events)]
            rows.append((*to, len(events), None))
    return rows
