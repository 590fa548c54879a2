"""A case as a dataflow of Pathway. Pathway persists the input and the position in it; nothing else is durable."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from threading import main_thread
from time import sleep
from typing import Any

import pathway as pw

from conformance.adapters.embedded.attempt import Attempt
from conformance.adapters.faults import TaskPosition
from conformance.adapters.pathway.store import STARTED, TIMES, committed_epochs, versions
from conformance.adapters.states import dump, load
from conformance.case import Task
from conformance.codec import digest

UNPACED = 0.25
"""Probability that a case gets all its epochs at once."""

POLL_INTERVAL = 0.005
"""Seconds between two reads of how many epochs are final."""


class StreamRow(pw.Schema):
    """An event of a stream with its position; `value` is JSON, and null for the border that closes an epoch."""

    stream: str
    epoch: int
    seq: int
    value: str


def run(attempt: Attempt, *, store: Path, output: Path, progress: Path) -> None:
    """Run the program once, to its end."""
    source = CaseSubject(attempt, store, progress)
    table = pw.io.python.read(source, schema=StreamRow, autocommit_duration_ms=None, name="sources")
    graph = attempt.case.graph
    streams = {name: table.filter(pw.this.stream == name) for name in graph.sources}
    for task in graph.in_order:
        streams[task.output] = _build_task(task, [streams[name] for name in task.inputs], attempt, source)
    _record_times(streams[graph.in_order[-1].output], attempt, progress)
    for name in sorted(attempt.streams):
        written = streams[name]
        pw.io.jsonlines.write(written, output / f"{name}.{attempt.number}", sort_by=[written.epoch, written.seq])
    pw.run(
        monitoring_level=pw.MonitoringLevel.NONE,
        default_logging=False,
        persistence_config=pw.persistence.Config(pw.persistence.Backend.filesystem(store)),
    )


class CaseSubject(pw.io.python.ConnectorSubject):
    """
    All sources of a case in one connector, which commits a minibatch for each epoch.

    Two connectors would place their borders independently. Most cases get an epoch when the epoch before it is final,
    so that there is something to recover; the others get all epochs at once, so that epochs overlap.
    """

    def __init__(self, attempt: Attempt, store: Path, progress: Path) -> None:
        super().__init__()
        self._attempt = attempt
        self._store = store
        self._progress = progress
        self._version_before = max(versions(store), default=0)
        self._is_unpaced = Random(f"{attempt.seed}/{digest(attempt.case)}/pace").random() < UNPACED
        self.final_epochs = 0
        """The number of epochs that were final when this attempt began."""

    def _seek(self, state: bytes) -> None:
        self.final_epochs = json.loads(state)

    def run(self) -> None:
        started = self._progress / STARTED.format(self._attempt.number)
        unfinished = started.with_name(f".{started.name}")
        unfinished.write_text(
            json.dumps({"after": self.final_epochs, "version": self._version_before}), encoding="utf-8"
        )
        unfinished.replace(started)
        if self.final_epochs == 0:
            self._attempt.during_recovery(1, "the input")
        for epoch in range(self.final_epochs + 1, self._attempt.until + 1):
            self._wait_for(epoch - 1)
            for name, epochs in self._attempt.case.inputs.items():
                for seq, event in enumerate((*epochs[epoch - 1], None)):
                    self.next(stream=name, epoch=epoch, seq=seq, value=json.dumps(event))
            self._report_offset(json.dumps(epoch).encode())
            self.commit()

    def _wait_for(self, epoch: int) -> None:
        """Wait until an epoch is final, or the program has died."""
        if self._is_unpaced:
            return
        while committed_epochs(self._store, self._progress) < epoch and main_thread().is_alive():
            sleep(POLL_INTERVAL)


def _build_task(task: Task, inputs: Sequence[Any], attempt: Attempt, source: CaseSubject) -> Any:
    """
    Build a task: a reducer over all of its input, to which Pathway passes a minibatch at a time.

    The result of the reducer is the task's state and the output of this minibatch; the output is flattened into rows.
    """
    numbered = [table.select(pw.this.epoch, pw.this.seq, pw.this.value, inp=n) for n, table in enumerate(inputs)]
    merged = numbered[0].concat_reindex(*numbered[1:]) if len(numbered) > 1 else numbered[0]
    fold = pw.reducers.stateful_many(_fold_function(task, attempt, source))
    reduced = merged.groupby().reduce(result=fold(pw.this.epoch, pw.this.seq, pw.this.inp, pw.this.value))
    emitted = (
        reduced.to_stream()
        .filter(pw.this.is_upsert)
        .select(row=pw.apply_with_type(_emitted_rows, list[tuple[int, int, str]], pw.this.result))
        .flatten(pw.this.row)
    )
    return emitted.select(
        stream=task.output, epoch=pw.this.row.get(0), seq=pw.this.row.get(1), value=pw.this.row.get(2)
    )


def _emitted_rows(result: str) -> list[tuple[int, int, str]]:
    return [(epoch, seq, value) for epoch, seq, value in json.loads(result)["emitted"]]


def _fold_function(task: Task, attempt: Attempt, source: CaseSubject) -> Callable[[str | None, list[Any]], str]:
    """
    Make the function that Pathway calls for each minibatch.

    A minibatch is usually an epoch; the first one after a restart has all final epochs. Pathway keeps no order within
    a minibatch: events are sorted by epoch, and alternate between inputs.
    """

    def fold(state: str | None, rows: list[tuple[list[Any], int]]) -> str:
        value = load(json.loads(state)["state"]) if state is not None else task.program.initial
        ordered = sorted((*row[:3], json.loads(row[3])) for row, _ in rows)
        emitted: list[tuple[int, int, str]] = []
        for epoch in sorted({row[0] for row in ordered}):
            events = [event for at, _, _, event in ordered if at == epoch and event is not None]
            outputs: list[Any] = []
            if epoch <= source.final_epochs:
                attempt.during_recovery(source.final_epochs + 1, f"the state of task {task.name}")
            for handled, event in enumerate(events):
                if epoch > source.final_epochs:
                    attempt.before(TaskPosition(task.name, epoch, handled))
                value, more = task.program(value, event)
                outputs += more
            if epoch > source.final_epochs:
                attempt.before(TaskPosition(task.name, epoch, len(events), is_border=True))
            emitted += [(epoch, seq, json.dumps(each)) for seq, each in enumerate((*outputs, None))]
        return json.dumps({"state": dump(value), "emitted": emitted})

    return fold


def _record_times(table: Any, attempt: Attempt, progress: Path) -> None:
    """
    Record the time of each epoch.

    The end of that time is the moment for a kill in the snapshot phase: the epoch is written, and not final yet.
    """
    path = progress / TIMES.format(attempt.number)
    epochs: dict[int, int] = {}

    def on_change(key: Any, row: dict[str, Any], time: int, is_addition: bool) -> None:  # noqa: ARG001, FBT001
        if row["value"] == "null":
            epochs[time] = row["epoch"]
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([row["epoch"], time]) + "\n")

    def on_time_end(time: int) -> None:
        if time in epochs:
            attempt.before_snapshot(None, epochs[time])

    pw.io.subscribe(table, on_change=on_change, on_time_end=on_time_end)
