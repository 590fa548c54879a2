"""A case as a dataflow of Bytewax. All state is in Bytewax's recovery store."""

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
from conformance.adapters.faults import TaskPosition
from conformance.case import Task


def create_store(folder: Path) -> None:
    """Create an empty recovery store with one partition."""
    init_db_dir(folder, 1)


def run(attempt: Attempt, sink: str, workers: int, *, store: Path, output: Path) -> None:
    """Run one execution to its end."""
    cluster_main(
        build_dataflow(attempt, sink, output),
        [],
        0,
        # Bytewax's epoch ends as soon as every source has emitted a batch, and a batch is an epoch of the case.
        epoch_interval=timedelta(0),
        recovery_config=RecoveryConfig(store),
        worker_count_per_proc=workers,
    )


def build_dataflow(attempt: Attempt, sink: str, output: Path) -> Any:
    """Build a dataflow with the sources, a stateful step for each task, and a sink for each observed stream."""
    flow = Dataflow("case")
    graph = attempt.case.graph
    streams = {name: op.input(SOURCE.format(name), flow, CaseSource(name, attempt)) for name in graph.sources}
    for task in graph.in_order:
        merged = op.merge(f"inputs-{task.name}", *(streams[name] for name in task.inputs))
        keyed = op.key_on(f"key-{task.name}", merged, _constant_key(task.name))
        stepped = op.stateful(f"task-{task.name}", keyed, _logic_builder(task, attempt))
        streams[task.output] = op.map(f"output-{task.name}", stepped, lambda pair: pair[1])
    for name in sorted(attempt.streams):
        lines = op.map(f"lines-{name}", streams[name], json.dumps)
        if sink == "file":
            op.output(f"sink-{name}", op.key_on(f"file-{name}", lines, _constant_key(name)), FileSink(output / name))
        else:
            op.output(f"sink-{name}", lines, AppendSink(output / name))
    return flow


def _constant_key(key: str) -> Callable[[Any], str]:
    return lambda _: key


class CaseSource(FixedPartitionedSource):
    """A source of the case. Its one partition saves how many epochs it has emitted."""

    def __init__(self, name: str, attempt: Attempt) -> None:
        self._name = name
        self._attempt = attempt

    def list_parts(self) -> list[str]:
        return [self._name]

    def build_part(self, step_id: str, for_part: str, resume_state: str | None) -> "CaseSourcePartition":  # noqa: ARG002
        emitted = int(resume_state.split()[1]) if resume_state is not None else 0
        self._attempt.during_recovery(emitted + 1, f"source {self._name}")
        return CaseSourcePartition(self._attempt.case.inputs[self._name], emitted, self._attempt.until)


class CaseSourcePartition(StatefulSourcePartition):
    """The recorded stream of a source. It emits a batch for each epoch: the events and the border."""

    def __init__(self, epochs: tuple[tuple[Any, ...], ...], emitted: int, until: int) -> None:
        self._epochs = epochs
        self._emitted = emitted
        self._until = until

    def next_batch(self) -> Iterable[Row]:
        if self._emitted >= self._until:
            raise StopIteration
        self._emitted += 1
        return [(self._emitted, event) for event in (*self._epochs[self._emitted - 1], None)]

    def snapshot(self) -> str:
        return POSITION.format(self._emitted)


def _logic_builder(task: Task, attempt: Attempt) -> Callable[[Any], "TaskLogic"]:
    def build(resume_state: Any) -> TaskLogic:
        if resume_state is None:
            return TaskLogic(task, attempt, task.program.initial)
        epoch, value = resume_state
        attempt.during_recovery(epoch + 1, f"task {task.name}")
        return TaskLogic(task, attempt, value)

    return build


class TaskLogic(StatefulLogic):
    """A task. It emits a border when every input has reached it; aligning the inputs is Bytewax's responsibility."""

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
            return self._on_border(epoch), StatefulLogic.RETAIN
        self._attempt.before(TaskPosition(self._task.name, epoch, self._handled))
        self._handled += 1
        self._value, emitted = self._task.program(self._value, event)
        return [(epoch, each) for each in emitted], StatefulLogic.RETAIN

    def _on_border(self, epoch: int) -> Iterable[Row]:
        self._borders += 1
        if self._borders < len(self._task.inputs):
            return []
        self._attempt.before(TaskPosition(self._task.name, epoch, self._handled, is_border=True))
        self._epoch, self._handled, self._borders = epoch, 0, 0
        return [(epoch, None)]

    def snapshot(self) -> tuple[int, Any]:
        self._attempt.before_snapshot(self._task.name, self._epoch)
        return self._epoch, self._value


class AppendSink(DynamicSink):
    """A sink that appends lines to a file, and has no state to resume from."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def build(self, step_id: str, worker_index: int, worker_count: int) -> "AppendSinkPartition":  # noqa: ARG002
        return AppendSinkPartition(self._path)


class AppendSinkPartition(StatelessSinkPartition):
    """The file that an `AppendSink` writes to."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def write_batch(self, items: list[str]) -> None:
        os.write(self._file, "".join(f"{line}\n" for line in items).encode())
