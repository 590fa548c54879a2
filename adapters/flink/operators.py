"""
What runs in Flink's workers: the sources and the tasks of a case.

A task's state, and how far a source has come, are in Flink's keyed state and nowhere else. What passes between
operators is text: the stream, the case's epoch, and the event, or nothing for the border that closes an epoch. The
epoch is there for the failures of a case, which name it; what is committed when is decided by Flink's checkpoints
alone.

Whoever drives the job is in another process, perhaps in another container, so both leave each other files: notes of
what was done, marks that something may be, and for each failure that it has struck.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen
from pyflink.common import Row
from pyflink.common.typeinfo import Types
from pyflink.datastream import RuntimeContext
from pyflink.datastream.functions import KeyedProcessFunction, ProcessFunction
from pyflink.datastream.state import ValueStateDescriptor

from conformance.adapters.flink.control import Desk, Waits
from conformance.adapters.states import dump, load
from conformance.case import BORDER, Crash, Epochs, Failure
from conformance.programs import Program

ROW = Types.ROW([Types.INT(), Types.STRING()])
"""A key, by which Flink finds the state, and the text."""

POLL = 15
"""Milliseconds between two looks of a source at whether it may go on."""

RARELY = 200
"""Milliseconds between two looks of one that has played all it has, so that Flink has something of it to restore."""


class Injected(RuntimeError):
    """The failure that a case asks for."""


def text(stream: str, epoch: int, *event: int | str) -> Row:
    """What passes from one operator to another; without an event it is a border."""
    return Row(0, json.dumps([stream, epoch, *event]))


class Source(KeyedProcessFunction):  # type: ignore[misc]
    """
    A source: plays a recorded stream, epoch by epoch, from a position that Flink keeps.

    With epochs as given it stops behind each border until it finds a mark that lets it go on: because the epoch is
    committed, or because a checkpoint has gone by here and is under way further down; the latter is for this
    incarnation of it alone. With epochs of Flink's own it plays an event at a time, and never waits.
    """

    def __init__(self, desk: Desk, stream: str, epochs: Epochs, *, own: bool) -> None:
        self._desk = desk
        self._stream = stream
        self._epochs = epochs
        self._own = own

    def open(self, runtime_context: RuntimeContext) -> None:
        self._position = runtime_context.get_state(ValueStateDescriptor("position", Types.STRING()))
        self._is_restored = False
        self._me = self._desk.opened(f"source:{self._stream}")

    def process_element(self, value: Any, ctx: Any) -> Iterator[Row]:  # noqa: ARG002
        """The word to begin."""
        self._again(ctx)
        yield from ()

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Row]:  # noqa: ARG002
        epoch, place = json.loads(self._position.value() or "[1, 0]")
        if not self._is_restored:
            self._is_restored = True
            self._desk.note("border", f"source:{self._stream}", self._me, epoch - 1)
        if self._desk.is_marked(f"back-{self._me}"):
            raise Injected(f"source {self._stream} has gone too far, as a checkpoint has failed")
        if epoch > len(self._epochs):
            self._again(ctx, RARELY)
            return
        if self._own or self._desk.is_marked(f"go-{epoch}") or self._desk.is_marked(f"ahead-{self._me}-{epoch}"):
            events = self._epochs[epoch - 1]
            until = min(place + 1, len(events)) if self._own else len(events)
            for event in events[place:until]:
                yield text(self._stream, epoch, event)
            if until == len(events):
                yield text(self._stream, epoch)
                epoch, place = epoch + 1, 0
            else:
                place = until
            self._position.update(json.dumps([epoch, place]))
            if not place:
                self._desk.note("border", f"source:{self._stream}", self._me, epoch - 1)
        self._again(ctx)

    @staticmethod
    def _again(ctx: Any, after: int = POLL) -> None:
        timers = ctx.timer_service()
        timers.register_processing_time_timer(timers.current_processing_time() + after)


@frozen
class Reader:
    """A task as an operator has it: what it is called, reads, computes and writes, and where it is held back."""

    name: str
    inputs: tuple[str, ...]
    output: str
    programs: tuple[Program[Any], ...]
    waits: Waits

    @property
    def initial(self) -> Any:
        """The state it begins with: that of the last program, as only a filter ever stands before another."""
        return self.programs[-1].initial

    def __call__(self, state: Any, event: int | str) -> tuple[Any, Sequence[int | str]]:
        """f(v, w), of one program or of a filter and what follows it."""
        *before, last = self.programs
        if any(not program(None, event)[1] for program in before):
            return state, ()
        return last(state, event)


class Spread(ProcessFunction):  # type: ignore[misc]
    """What goes to the branches of a keyed sum: integers to the one of their key, everything else to all of them."""

    def __init__(self, keys: Sequence[int]) -> None:
        self._keys = tuple(keys)

    def process_element(self, value: Row, ctx: Any) -> Iterator[Row]:  # noqa: ARG002
        _, _, *event = json.loads(value[1])
        to = [self._keys[event[0] % len(self._keys)]] if event and isinstance(event[0], int) else self._keys
        for key in to:
            yield Row(key, value[1])


class Operator(KeyedProcessFunction):  # type: ignore[misc]
    """
    Tasks: their programs, over whatever Flink gives them, in the order in which Flink gives it.

    By key there is one task or, where the branches of a keyed sum are spread over subtasks, one for each branch. What a
    stream carries that a task does not read is none of its business.
    """

    def __init__(self, desk: Desk, tasks: Mapping[int, Reader], failures: Sequence[Failure]) -> None:
        self._desk = desk
        self._tasks = dict(tasks)
        self._failures = tuple(failures)

    def open(self, runtime_context: RuntimeContext) -> None:
        self._state = runtime_context.get_state(ValueStateDescriptor("state", Types.STRING()))
        self._handled: dict[tuple[str, int], int] = {}
        self._waited: set[tuple[str, str, int]] = set()
        self._me: dict[str, str] = {}
        if len(self._tasks) == 1:
            self._begin(self._tasks[0])

    def _begin(self, reader: "Reader") -> str:
        """The incarnation of a task. Which of several tasks are here is known when something comes for them."""
        if reader.name not in self._me:
            self._me[reader.name] = self._desk.opened(reader.name)
        return self._me[reader.name]

    def process_element(self, value: str, ctx: Any) -> Iterator[Row]:
        stream, epoch, *event = json.loads(value)
        reader = self._tasks[0] if len(self._tasks) == 1 else self._tasks[ctx.get_current_key()]
        if stream not in reader.inputs:
            return
        self._begin(reader)
        if epoch in reader.waits.begins:
            self._wait(reader, "begins", epoch)
        kept = self._state.value()
        state, borders = reader.initial, {}
        if kept is not None:
            dumped, borders = json.loads(kept)
            state = load(dumped)
        if event:
            handled = self._handled.get((reader.name, epoch), 0)
            self._strike(reader, epoch, handled, handled)
            self._handled[reader.name, epoch] = handled + 1
            state, made = reader(state, event[0])
            for each in made:
                yield text(reader.output, epoch, each)
        else:
            there = borders.setdefault(str(epoch), [])
            if stream not in there:
                there.append(stream)
            if len(there) == len(reader.inputs):
                del borders[str(epoch)]
                if epoch in reader.waits.borders:
                    self._wait(reader, "borders", epoch)
                self._strike(reader, epoch, BORDER, self._handled.get((reader.name, epoch), 0))
                yield text(reader.output, epoch)
                self._desk.note("border", reader.name, self._begin(reader), epoch)
        self._state.update(json.dumps([dump(state), borders]))

    def _wait(self, reader: "Reader", what: str, epoch: int) -> None:
        """Stand still until whoever drives the job has had enough of it. Once for each epoch."""
        if (reader.name, what, epoch) in self._waited:
            return
        self._waited.add((reader.name, what, epoch))
        self._desk.wait(what, reader.name, self._begin(reader), epoch)

    def _strike(self, reader: "Reader", epoch: int, place: int | str, handled: int) -> None:
        """A task is about to handle an event, or to pass a border: crash, if that is what the case asks for now."""
        for number, failure in enumerate(self._failures):
            if self._desk.has_struck(number):
                continue
            if isinstance(failure, Crash) and (failure.task, failure.epoch) == (reader.name, epoch):
                beyond = place == BORDER and (failure.event == BORDER or int(failure.event) >= handled)
                if failure.event == place or beyond:
                    where = f"{reader.name} in epoch {epoch}, before {_words(place)}"
                    if self._desk.strike(number, f"an exception in {where} (process {os.getpid()})"):
                        raise Injected(where)
            return


class Brake(KeyedProcessFunction):  # type: ignore[misc]
    """
    No part of a case: while it stands still, it lets no checkpoint by, and so none is complete.

    It stands still when there is a mark that it is to, until it is let go.
    """

    def __init__(self, desk: Desk, name: str) -> None:
        self._desk = desk
        self._name = name

    def open(self, runtime_context: RuntimeContext) -> None:  # noqa: ARG002
        self._me = self._desk.opened(self._name)
        self._times = 0

    def process_element(self, value: Any, ctx: Any) -> Iterator[Row]:  # noqa: ARG002
        Source._again(ctx)  # noqa: SLF001 - as a source does
        yield from ()

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Row]:  # noqa: ARG002
        if self._desk.is_marked(f"{self._name}-{self._me}-{self._times}"):
            self._desk.wait("brakes", self._name, self._me, self._times)
            self._times += 1
        Source._again(ctx)  # noqa: SLF001 - as a source does
        yield from ()


def _words(place: int | str) -> str:
    return "its border" if place == BORDER else f"event {place}"
