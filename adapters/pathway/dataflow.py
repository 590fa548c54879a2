"""A case as a dataflow of Pathway, which persists its input and where it is; nobody else does."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from threading import main_thread
from time import sleep
from typing import Any

import pathway as pw

from conformance.adapters.embedded.attempt import Attempt
from conformance.adapters.pathway.store import BEGAN, TIMES, committed, versions
from conformance.adapters.states import dump, load
from conformance.case import BORDER, Task
from conformance.codec import digest

AT_ONCE = 0.25
"""How likely a case is to get all its epochs at once."""

LOOK = 0.005
"""Seconds between two looks at what is final."""


class Message(pw.Schema):
    """An event of a stream, with its place; `value` is JSON, and null for the border that closes an epoch."""

    stream: str
    epoch: int
    seq: int
    value: str


def run(attempt: Attempt, *, store: Path, output: Path, notes: Path) -> None:
    """One run of the program, to its end."""
    source = Recorded(attempt, store, notes)
    table = pw.io.python.read(source, schema=Message, autocommit_duration_ms=None, name="sources")
    graph = attempt.case.graph
    streams = {name: table.filter(pw.this.stream == name) for name in graph.sources}
    for task in graph.in_order:
        streams[task.output] = _task(task, [streams[name] for name in task.inputs], attempt, source)
    _note_times(streams[graph.in_order[-1].output], attempt, notes)
    for name in sorted(attempt.streams):
        written = streams[name]
        pw.io.jsonlines.write(written, output / f"{name}.{attempt.number}", sort_by=[written.epoch, written.seq])
    pw.run(
        monitoring_level=pw.MonitoringLevel.NONE,
        default_logging=False,
        persistence_config=pw.persistence.Config(pw.persistence.Backend.filesystem(store)),
    )


class Recorded(pw.io.python.ConnectorSubject):
    """
    All sources in one, as two connectors would place their borders independently: a minibatch for each epoch.

    Most cases get an epoch when the one before is final, so that there is something to recover; the others get all at
    once, so that epochs overlap.
    """

    def __init__(self, attempt: Attempt, store: Path, notes: Path) -> None:
        super().__init__()
        self._attempt = attempt
        self._store = store
        self._notes = notes
        self._before = max(versions(store), default=0)
        self._at_once = Random(f"{attempt.seed}/{digest(attempt.case)}/pace").random() < AT_ONCE
        self.given = 0
        """How many epochs were final when this attempt began."""

    def _seek(self, state: bytes) -> None:
        self.given = json.loads(state)

    def run(self) -> None:
        began = self._notes / BEGAN.format(self._attempt.number)
        unfinished = began.with_name(f".{began.name}")
        unfinished.write_text(json.dumps({"after": self.given, "version": self._before}), encoding="utf-8")
        unfinished.replace(began)
        if self.given == 0:
            self._attempt.restores(1, "the input")
        for epoch in range(self.given + 1, self._attempt.until + 1):
            self._wait_for(epoch - 1)
            for name, epochs in self._attempt.case.inputs.items():
                for seq, event in enumerate((*epochs[epoch - 1], None)):
                    self.next(stream=name, epoch=epoch, seq=seq, value=json.dumps(event))
            self._report_offset(json.dumps(epoch).encode())
            self.commit()

    def _wait_for(self, epoch: int) -> None:
        """Until an epoch is final, or the program has died."""
        while not self._at_once and committed(self._store, self._notes) < epoch and main_thread().is_alive():
            sleep(LOOK)


def _task(task: Task, inputs: Sequence[Any], attempt: Attempt, source: Recorded) -> Any:
    """
    A task: a reducer over all that it is ever sent, which is given a minibatch at a time.

    Its result has its state, and what this minibatch made it emit; the latter is taken out of it row by row.
    """
    numbered = [table.select(pw.this.epoch, pw.this.seq, pw.this.value, inp=n) for n, table in enumerate(inputs)]
    merged = numbered[0].concat_reindex(*numbered[1:]) if len(numbered) > 1 else numbered[0]
    fold = pw.reducers.stateful_many(_fold(task, attempt, source))
    reduced = merged.groupby().reduce(result=fold(pw.this.epoch, pw.this.seq, pw.this.inp, pw.this.value))
    emitted = (
        reduced.to_stream()
        .filter(pw.this.is_upsert)
        .select(row=pw.apply_with_type(_emitted, list[tuple[int, int, str]], pw.this.result))
        .flatten(pw.this.row)
    )
    return emitted.select(
        stream=task.output, epoch=pw.this.row.get(0), seq=pw.this.row.get(1), value=pw.this.row.get(2)
    )


def _emitted(result: str) -> list[tuple[int, int, str]]:
    return [(epoch, seq, value) for epoch, seq, value in json.loads(result)["emitted"]]


def _fold(task: Task, attempt: Attempt, source: Recorded) -> Callable[[str | None, list[Any]], str]:
    """
    What Pathway calls for a minibatch: usually an epoch; when it is started again, first all that went before.

    Pathway keeps no order within a minibatch: events are put in order by epoch, and take turns between inputs.
    """

    def fold(state: str | None, rows: list[tuple[list[Any], int]]) -> str:
        value = load(json.loads(state)["state"]) if state is not None else task.program.initial
        messages = sorted((*row[:3], json.loads(row[3])) for row, _ in rows)
        emitted: list[tuple[int, int, str]] = []
        for epoch in sorted({message[0] for message in messages}):
            events = [event for at, _, _, event in messages if at == epoch and event is not None]
            outputs: list[Any] = []
            if epoch <= source.given:
                attempt.restores(source.given + 1, f"the state of task {task.name}")
            for handled, event in enumerate(events):
                if epoch > source.given:
                    attempt.about_to(task.name, epoch, handled, handled)
                value, more = task.program(value, event)
                outputs += more
            if epoch > source.given:
                attempt.about_to(task.name, epoch, BORDER, len(events))
            emitted += [(epoch, seq, json.dumps(each)) for seq, each in enumerate((*outputs, None))]
        return json.dumps({"state": dump(value), "emitted": emitted})

    return fold


def _note_times(table: Any, attempt: Attempt, notes: Path) -> None:
    """Which epoch comes at which time; and a place to die when an epoch has been put out and is not final yet."""
    path = notes / TIMES.format(attempt.number)
    epochs: dict[int, int] = {}

    def note(key: Any, row: dict[str, Any], time: int, is_addition: bool) -> None:  # noqa: ARG001, FBT001
        if row["value"] == "null":
            epochs[time] = row["epoch"]
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([row["epoch"], time]) + "\n")

    def ends(time: int) -> None:
        if time in epochs:
            attempt.saves(None, epochs[time])

    pw.io.subscribe(table, on_change=note, on_time_end=ends)
