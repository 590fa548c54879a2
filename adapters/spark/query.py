"""The folder of a streaming query: its cases, its input, its committed output, and its observations over time."""

import json
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from time import monotonic, time
from typing import Any

from conformance.adapters.action_log import case_digests
from conformance.adapters.faults import EVIDENCE, EvidenceLog, next_failure
from conformance.adapters.spark.batch_progress import SINK_LOG, KillWindow, external_kills, read_progress
from conformance.adapters.spark.committed_batches import CommittedBatches, EpochRows, OffsetLog
from conformance.adapters.spark.operators import COLUMNS
from conformance.adapters.spark.routing import RowRouting, group_owner, route_cases
from conformance.adapters.spark.schedule import QueryGroup
from conformance.adapters.spark.setup import DEFAULT_CONF, SparkSetup
from conformance.adapters.spark.task_faults import TaskFaults
from conformance.case import Epochs, Failure, Kill, Restart
from conformance.codec import digest, encode_case
from conformance.engine import RunRequest
from conformance.observation import End, EngineInfo, Fired, Observation, Observations

LOGGER = logging.getLogger("conformance.adapters.spark")

FIRST_FILE_TIME = 1_000_000_000
"""Spark reads input files in the order of their times, so each epoch's file gets its own, counted from this one."""

PARTITIONS = int(DEFAULT_CONF["spark.sql.shuffle.partitions"])


class CaseHistory:
    """The failures and observations of one case of a query."""

    def __init__(self, request: RunRequest, faults: TaskFaults) -> None:
        self.request = request
        self.case_number = faults.case
        self.external = faults.external
        self.evidence: EvidenceLog = faults.evidence
        self.observations: list[Observation] = []
        self.fired: list[Fired] = []
        self._is_due = True
        self._observed_epochs = -1

    @property
    def next_failure(self) -> Failure | None:
        """The first failure that has not been observed."""
        return next_failure(self.request.case.failures, len(self.fired))

    @property
    def remaining_failures(self) -> tuple[Failure, ...]:
        """The failures that have not been observed."""
        return self.request.case.failures[len(self.fired) :]

    def is_restart_due(self, committed: int) -> bool:
        """Tell whether the next failure is a restart after one of the first `committed` epochs."""
        failure = self.next_failure
        return isinstance(failure, Restart) and committed >= failure.epoch

    def observe(self, epochs: Sequence[EpochRows], evidence: frozenset[str], t: float, *, last: bool) -> None:
        """Add new failures, and an observation after a change of the committed epochs or after a failure."""
        while self.evidence.name(number := len(self.fired)) in evidence:
            description = self.evidence.read(number).description
            LOGGER.info("case %s: failure %d: %s", case_digests([self.request]), number, description)
            self.fired.append(Fired(number, len(self.observations), description, t))
            self._is_due = True
        committed = min(len(epochs), self.request.case.epochs)
        if committed != self._observed_epochs or self._is_due or last:
            self._observed_epochs, self._is_due = committed, False
            self.observations.append(Observation(self._streams(epochs[:committed]), t))

    def _streams(self, epochs: Sequence[EpochRows]) -> dict[str, Epochs]:
        """Return the events of each committed epoch, by observed stream."""
        return {
            stream: tuple(
                tuple(json.loads(row["value"]) for row in epoch.get((self.case_number, stream), ()) if "value" in row)
                for epoch in epochs
            )
            for stream in sorted(self.request.streams)
        }


class Query:
    """The folder of a query, in which one driver after another can run it."""

    def __init__(self, folder: Path, group: QueryGroup, setup: SparkSetup) -> None:
        self.folder = folder
        self.group = group
        self.message: str | None = None
        self._began = monotonic()
        self._attempt_began = time()
        self._epochs = max(request.case.epochs for request in group.requests)
        self._fed = 0
        self._routings = route_cases([(request.case, request.streams) for request in group.requests])
        self._external_kills = external_kills(group.requests[0], PARTITIONS * self._routings[0].depth)
        self._committed = CommittedBatches(folder, setup.sink)
        self._offsets = OffsetLog(folder)
        self._histories = [
            CaseHistory(
                each, TaskFaults(str(folder), number, each.case.failures, frozenset(external_kills(each, stores=1)))
            )
            for number, each in enumerate(group.requests)
        ]
        for name in ("in", EVIDENCE, SINK_LOG):
            (folder / name).mkdir(parents=True)
        self._write_spec(setup)
        self._feed()

    def _write_spec(self, setup: SparkSetup) -> None:
        cases = [
            {
                "case": encode_case(history.request.case),
                "streams": sorted(history.request.streams),
                "external": sorted(history.external),
            }
            for history in self._histories
        ]
        spec = {"cases": cases, "sink": setup.sink, "operator": setup.operator}
        (self.folder / "spec.json").write_text(json.dumps(spec), encoding="utf-8")

    @property
    def is_done(self) -> bool:
        """Whether every epoch is committed, and no restart is due."""
        return len(self._committed) >= self._epochs and not self.is_restart_due()

    def begin_attempt(self) -> None:
        """Remember when a driver is told to start the query."""
        self._attempt_began = time()

    def _feed(self) -> None:
        """Write input up to the next epoch after which a restart is to happen."""
        while self._fed < min(self._epochs, self._next_restart()):
            self._fed += 1
            self._write_input(self._fed)

    def _next_restart(self) -> int:
        """Return the epoch of the next restart; the last epoch, if there is none."""
        restarts = [
            failure.epoch
            for history in self._histories
            for failure in history.remaining_failures
            if isinstance(failure, Restart)
        ]
        return min(restarts, default=self._epochs)

    def _write_input(self, epoch: int) -> None:
        """Write the events and borders of an epoch to a file that appears at once; Spark makes it a micro-batch."""
        rows = [row for number, routing in enumerate(self._routings) for row in _source_rows(number, routing, epoch)]
        unfinished = self.folder / "epoch.part"
        unfinished.write_text(
            "".join(json.dumps(dict(zip(COLUMNS, row, strict=True))) + "\n" for row in rows), encoding="utf-8"
        )
        os.utime(unfinished, (FIRST_FILE_TIME + epoch, FIRST_FILE_TIME + epoch))
        unfinished.replace(self.folder / "in" / f"epoch-{epoch:06}.json")

    def is_restart_due(self) -> bool:
        """Tell whether a case asks for a restart: earlier failures have happened, and its epoch is committed."""
        committed = len(self._committed)
        return any(history.is_restart_due(committed) for history in self._histories)

    def record_restart(self) -> None:
        """Record that the query was stopped for a restart, and continue its input."""
        committed = len(self._committed)
        for history in self._histories:
            if history.is_restart_due(committed):
                history.evidence.record(len(history.fired), f"the query was stopped with {committed} epochs committed")
        self.observe()
        self._feed()

    def next_external_kill(self) -> tuple[Kill, KillWindow | None] | None:
        """
        Return the next kill that the supervisor does, and its window; None stands for the start of recovery.

        It is a failure of every case of the query. The window was chosen for the first of them.
        """
        first = self._histories[0]
        for number, window in self._external_kills.items():
            if number >= len(first.fired):
                kill = first.request.case.failures[number]
                assert isinstance(kill, Kill)  # noqa: S101 - no other failure is an external kill
                return kill, window
        return None

    @property
    def is_kill_due(self) -> bool:
        """Whether the next failure of every case is an external kill."""
        return all(len(history.fired) in history.external for history in self._histories)

    @property
    def failures_observed(self) -> int:
        """The number of failures of all cases that were observed."""
        return sum(len(history.fired) for history in self._histories)

    @property
    def expects_driver_kill(self) -> bool:
        """Whether a kill of the driver is still to happen."""
        remaining = self._histories[0].remaining_failures
        return any(isinstance(failure, Kill) and failure.target == "coordinator" for failure in remaining)

    def is_in_next_batch(self, epoch: int) -> bool:
        """Tell whether an epoch is in the next micro-batch to be committed."""
        return self._committed.batches == self._offsets.batch(epoch)

    def is_open(self, window: KillWindow, epoch: int) -> bool:
        """Tell whether the progress of the driver is within a window."""
        progress = read_progress(self.folder, epoch, self._offsets.batch(epoch), self._attempt_began)
        return window.is_open(progress)

    def record_kill(self, description: str) -> None:
        """Record an external kill as the next failure of every case."""
        for history in self._histories:
            history.evidence.record(len(history.fired), description)

    def observe(self, *, last: bool = False) -> None:
        """Observe the committed output and the failures of all cases."""
        epochs = self._committed.epochs()
        evidence = frozenset(os.listdir(self.folder / EVIDENCE))  # noqa: PTH208 - called fifty times a second
        t = round(monotonic() - self._began, 3)
        for history in self._histories:
            history.observe(epochs, evidence, t, last=last)

    def observations(self, info: EngineInfo, place: str | None = None) -> list[Observations]:
        """Return what was observed of each case, which ran in this place."""
        end: End = "completed" if self.is_done else "error" if self.message else "stalled"
        return [
            Observations(
                digest(history.request.case),
                tuple(history.observations),
                info,
                fired=tuple(history.fired),
                end=end,
                message=self.message if end == "error" else None,
                place=place,
            )
            for history in self._histories
        ]


def _source_rows(number: int, routing: RowRouting, epoch: int) -> list[tuple[Any, ...]]:
    """Return the rows of one case's sources in one epoch, addressed to their first readers."""
    case = routing.case
    if epoch > case.epochs:
        return []
    rows: list[tuple[Any, ...]] = []
    for source in case.graph.sources:
        events = case.inputs[source][epoch - 1]
        for task, inp in routing.routes[1, source]:
            address = (group_owner(number, task), number, task, inp, source, epoch)
            rows += [(*address, seq, json.dumps(event)) for seq, event in enumerate(events)]
            rows.append((*address, len(events), None))
    return rows
