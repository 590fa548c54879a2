"""A case as a dataflow of Bytewax, which keeps its state; nobody else does."""

import json
import os
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import bytewax.operators as op
from bytewax.connectors.files import FileSink
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition
from bytewax.operators import StatefulLogic
from bytewax.outputs import DynamicSink, StatelessSinkPartition
from bytewax.recovery import RecoveryConfig, init_db_dir
from bytewax.testing import cluster_main

from conformance.adapters.bytewax.store import POSITION, SOURCE
from conformance.adapters.embedded.attempt import Attempt, Row
from conformance.case import BORDER, Task


def new_store(folder: Path) -> None:
    """An empty recovery store, of one partition."""
    init_db_dir(folder, 1)


def run(attempt: Attempt, sink: str, workers: int, *, store: Path, output: Path) -> None:
    """One execution, to its end."""
    cluster_main(
        dataflow(attempt, sink, output),
        [],
        0,
        # An epoch of Bytewax ends as soon as every source has given a batch; and a batch is an epoch of the case.
        epoch_interval=timedelta(0),
        recovery_config=RecoveryConfig(store),
        worker_count_per_proc=workers,
    )


def dataflow(attempt: Attempt, sink: str, output: Path) -> Any:
    """Sources, a stateful step for each task, a sink for each stream that is observed."""
    flow = Dataflow("case")
    graph = attempt.case.graph
    streams = {name: op.input(SOURCE.format(name), flow, Recorded(name, attempt)) for name in graph.sources}
    for task in graph.in_order:
        read = op.merge(f"inputs-{task.name}", *(streams[name] for name in task.inputs))
        keyed = op.key_on(f"key-{task.name}", read, _always(task.name))
        stepped = op.stateful(f"task-{task.name}", keyed, _steps(task, attempt))
        streams[task.output] = op.map(f"output-{task.name}", stepped, lambda pair: pair[1])
    for name in sorted(attempt.streams):
        lines = op.map(f"lines-{name}", streams[name], json.dumps)
        if sink == "file":
            op.output(f"sink-{name}", op.key_on(f"file-{name}", lines, _always(name)), FileSink(output / name))
        else:
            op.output(f"sink-{name}", lines, Appending(output / name))
    return flow


def _always(key: str) -> Callable[[Any], str]:
    return lambda _: key


class Recorded(FixedPartitionedSource):
    """A source of the case. Its one partition saves how many epochs it has given."""

    def __init__(self, name: str, attempt: Attempt) -> None:
        self._name = name
        self._attempt = attempt

    def list_parts(self) -> list[str]:
        return [self._name]

    def build_part(self, step_id: str, for_part: str, resume_state: str | None) -> "Position":  # noqa: ARG002
        given = int(resume_state.split()[1]) if resume_state is not None else 0
        self._attempt.restores(given + 1, f"source {self._name}")
        return Position(self._attempt.case.inputs[self._name], given, self._attempt.until)


class Position(StatefulSourcePartition):
    """A batch for each epoch: its events, and its border."""

    def __init__(self, epochs: tuple[tuple[Any, ...], ...], given: int, until: int) -> None:
        self._epochs = epochs
        self._given = given
        self._until = until

    def next_batch(self) -> Iterable[Row]:
        if self._given >= self._until:
            raise StopIteration
        self._given += 1
        return [(self._given, event) for event in (*self._epochs[self._given - 1], None)]

    def snapshot(self) -> str:
        return POSITION.format(self._given)


def _steps(task: Task, attempt: Attempt) -> Callable[[Any], "Step"]:
    def step(resume_state: Any) -> Step:
        if resume_state is None:
            return Step(task, attempt, task.program.initial)
        epoch, value = resume_state
        attempt.restores(epoch + 1, f"task {task.name}")
        return Step(task, attempt, value)

    return step


class Step(StatefulLogic):
    """A task. It passes a border on when every input has reached it; what waits for what is Bytewax's business."""

    def __init__(self, task: Task, attempt: Attempt, value: Any) -> None:
        self._task = task
        self._attempt = attempt
        self._value = value
        self._epoch = 0
        self._handled = 0
        self._borders = 0

    def on_item(self, value: Row) -> tuple[Iterable[Row], bool]:
        epoch, event = value
        if event is None:
            return self._border(epoch), StatefulLogic.RETAIN
        self._attempt.about_to(self._task.name, epoch, self._handled, self._handled)
        self._handled += 1
        self._value, emitted = self._task.program(self._value, event)
        return [(epoch, each) for each in emitted], StatefulLogic.RETAIN

    def _border(self, epoch: int) -> Iterable[Row]:
        self._borders += 1
        if self._borders < len(self._task.inputs):
            return []
        self._attempt.about_to(self._task.name, epoch, BORDER, self._handled)
        self._epoch, self._handled, self._borders = epoch, 0, 0
        return [(epoch, None)]

    def snapshot(self) -> tuple[int, Any]:
        self._attempt.saves(self._task.name, self._epoch)
        return self._epoch, self._value


class Appending(DynamicSink):
    """Adds lines to a file, and remembers nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def build(self, step_id: str, worker_index: int, worker_count: int) -> "Appender":  # noqa: ARG002
        return Appender(self._path)


class Appender(StatelessSinkPartition):
    """A file that is only ever added to."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def write_batch(self, items: list[str]) -> None:
        os.write(self._file, "".join(f"{line}\n" for line in items).encode())
