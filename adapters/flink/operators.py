"""
Operators that run in Flink's workers: the sources and the tasks of a case, and checkpoint blockers.

A task's state, and a source's position, are in Flink's keyed state and nowhere else. Operators send each other rows
(`rows.DataRow`). The failures of a case name epochs, so events carry theirs; which events are committed together is
decided by Flink's checkpoints alone.

The driver of the job is in another process, perhaps outside the container, and talks to the operators through the
control channel.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pyflink.common import Row
from pyflink.common.typeinfo import Types
from pyflink.datastream import RuntimeContext
from pyflink.datastream.functions import KeyedProcessFunction, ProcessFunction
from pyflink.datastream.state import ValueStateDescriptor

from conformance.adapters.faults import TaskPosition, inject_crash, is_crash_due, next_failure
from conformance.adapters.flink.control import ControlChannel
from conformance.adapters.flink.deployment import TaskSpec
from conformance.adapters.flink.messages import (
    BlockCheckpoint,
    BorderPassed,
    Gate,
    GateReached,
    PlayAhead,
    PlayEpoch,
    RollBack,
    source_name,
)
from conformance.adapters.flink.rows import DataRow, format_row, parse_row
from conformance.adapters.states import dump, load
from conformance.case import Epochs, Failure
from conformance.programs import Event

ROW = Types.ROW([Types.INT(), Types.STRING()])
"""A key, by which Flink finds the state, and the text."""

POLL_MS = 15
"""Milliseconds between two polls of the control channel by a source."""

IDLE_POLL_MS = 200
"""Milliseconds between two polls by a source that has played all of its epochs."""


class RolledBack(RuntimeError):
    """A source fails, to be restored, because it played ahead of a checkpoint that was abandoned."""


def flink_row(stream: str, epoch: int, event: Event | None = None) -> Row:
    """Return what an operator sends: an event of a stream or, without an event, a border."""
    return Row(0, format_row(DataRow(stream, epoch, event)))


def _set_timer(ctx: Any, milliseconds: int = POLL_MS) -> None:
    timers = ctx.timer_service()
    timers.register_processing_time_timer(timers.current_processing_time() + milliseconds)


class SourceOperator(KeyedProcessFunction):  # type: ignore[misc]
    """
    A source: plays a recorded stream, epoch by epoch, from a position that Flink keeps.

    With given epochs it stops behind each border until the driver signals that it may play the next epoch: to all
    sources, because the epoch is committed (`PlayEpoch`), or to this attempt alone, because a checkpoint has passed
    this source and is under way further down (`PlayAhead`). With epochs of Flink's own it plays one event at a time
    and never stops.
    """

    def __init__(self, channel: ControlChannel, stream: str, epochs: Epochs, *, own: bool) -> None:
        self._channel = channel
        self._stream = stream
        self._name = source_name(stream)
        self._epochs = epochs
        self._own = own

    def open(self, runtime_context: RuntimeContext) -> None:
        self._position = runtime_context.get_state(ValueStateDescriptor("position", Types.STRING()))
        self._is_restored = False
        self._attempt = self._channel.open_attempt(self._name)

    def process_element(self, value: Any, ctx: Any) -> Iterator[Row]:  # noqa: ARG002
        """Start to poll; the one element is there for that."""
        _set_timer(ctx)
        yield from ()

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Row]:  # noqa: ARG002
        epoch, begin = json.loads(self._position.value() or "[1, 0]")
        if not self._is_restored:
            self._is_restored = True
            self._report_border(epoch - 1)
        if self._channel.is_signalled(RollBack(self._attempt)):
            raise RolledBack(f"{self._name} played ahead of a checkpoint that was abandoned")
        if epoch > len(self._epochs):
            _set_timer(ctx, IDLE_POLL_MS)
            return
        if self._may_play(epoch):
            events = self._epochs[epoch - 1]
            end = min(begin + 1, len(events)) if self._own else len(events)
            for event in events[begin:end]:
                yield flink_row(self._stream, epoch, event)
            if end < len(events):
                self._position.update(json.dumps([epoch, end]))
            else:
                yield flink_row(self._stream, epoch)
                self._position.update(json.dumps([epoch + 1, 0]))
                self._report_border(epoch)
        _set_timer(ctx)

    def _may_play(self, epoch: int) -> bool:
        commands = (PlayEpoch(epoch), PlayAhead(self._attempt, epoch))
        return self._own or any(map(self._channel.is_signalled, commands))

    def _report_border(self, epoch: int) -> None:
        self._channel.report(BorderPassed(self._name, self._attempt, epoch))


class BranchRouter(ProcessFunction):  # type: ignore[misc]
    """Route events to the branches of a keyed sum: an integer to the branch of its key, all else to every branch."""

    def __init__(self, keys: Sequence[int]) -> None:
        self._keys = tuple(keys)

    def process_element(self, value: Row, ctx: Any) -> Iterator[Row]:  # noqa: ARG002
        event = parse_row(value[1]).event
        keys = [self._keys[event % len(self._keys)]] if isinstance(event, int) else self._keys
        for key in keys:
            yield Row(key, value[1])


class TaskOperator(KeyedProcessFunction):  # type: ignore[misc]
    """
    Run the programs of tasks over their inputs, in the order in which Flink delivers these.

    There is one task or, where the branches of a keyed sum are spread over subtasks, one task for each key. Events of
    streams that a task does not read are ignored.
    """

    def __init__(self, channel: ControlChannel, tasks: Mapping[int, TaskSpec], failures: Sequence[Failure]) -> None:
        self._channel = channel
        self._tasks = dict(tasks)
        self._failures = tuple(failures)

    def open(self, runtime_context: RuntimeContext) -> None:
        self._state = runtime_context.get_state(ValueStateDescriptor("state", Types.STRING()))
        self._handled: dict[tuple[str, int], int] = {}
        self._released: set[tuple[str, Gate, int]] = set()
        self._attempts: dict[str, str] = {}
        if len(self._tasks) == 1:
            self._attempt(self._tasks[0])

    def _attempt(self, task: TaskSpec) -> str:
        """Return a task's attempt. A subtask learns which of several tasks it has when it gets events for them."""
        if task.name not in self._attempts:
            self._attempts[task.name] = self._channel.open_attempt(task.name)
        return self._attempts[task.name]

    def process_element(self, value: str, ctx: Any) -> Iterator[Row]:
        stream, epoch, event = parse_row(value)
        task = self._tasks[0] if len(self._tasks) == 1 else self._tasks[ctx.get_current_key()]
        if stream not in task.inputs:
            return
        attempt = self._attempt(task)
        self._pass_gate(task, Gate.EPOCH_START, epoch)
        kept = self._state.value()
        state, borders = task.initial, {}
        if kept is not None:
            dumped, borders = json.loads(kept)
            state = load(dumped)
        handled = self._handled.get((task.name, epoch), 0)
        if event is not None:
            self._crash_if_due(TaskPosition(task.name, epoch, handled))
            self._handled[task.name, epoch] = handled + 1
            state, outputs = task(state, event)
            for output in outputs:
                yield flink_row(task.output, epoch, output)
        else:
            arrived = borders.setdefault(str(epoch), [])
            if stream not in arrived:
                arrived.append(stream)
            if len(arrived) == len(task.inputs):
                del borders[str(epoch)]
                self._pass_gate(task, Gate.BORDER, epoch)
                self._crash_if_due(TaskPosition(task.name, epoch, handled, is_border=True))
                yield flink_row(task.output, epoch)
                self._channel.report(BorderPassed(task.name, attempt, epoch))
        self._state.update(json.dumps([dump(state), borders]))

    def _pass_gate(self, task: TaskSpec, gate: Gate, epoch: int) -> None:
        """Wait at a gate if it is closed, once in an attempt."""
        if (gate, epoch) in task.gates and (task.name, gate, epoch) not in self._released:
            self._released.add((task.name, gate, epoch))
            self._channel.wait_at_gate(GateReached(task.name, self._attempt(task), gate, epoch))

    def _crash_if_due(self, position: TaskPosition) -> None:
        """Crash before an event or a border, if the case's next failure is that crash."""
        if self._failures:
            evidence = self._channel.evidence
            number = evidence.count()
            if is_crash_due(next_failure(self._failures, number), position):
                inject_crash(evidence, number, position)


class CheckpointBlocker(KeyedProcessFunction):  # type: ignore[misc]
    """
    An operator that is no part of a case and can keep a checkpoint from being complete.

    While it waits at its gate no checkpoint barrier passes it. It waits when the driver signals `BlockCheckpoint`,
    until the driver releases the gate.
    """

    def __init__(self, channel: ControlChannel, name: str) -> None:
        self._channel = channel
        self._name = name

    def open(self, runtime_context: RuntimeContext) -> None:  # noqa: ARG002
        self._attempt = self._channel.open_attempt(self._name)
        self._blocked = 0

    def process_element(self, value: Any, ctx: Any) -> Iterator[Row]:  # noqa: ARG002
        _set_timer(ctx)
        yield from ()

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Row]:  # noqa: ARG002
        if self._channel.is_signalled(BlockCheckpoint(self._attempt, self._blocked)):
            self._channel.wait_at_gate(GateReached(self._name, self._attempt, Gate.CHECKPOINT, self._blocked))
            self._blocked += 1
        _set_timer(ctx)
        yield from ()
