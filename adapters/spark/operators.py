"""
What runs in Spark's Python workers: one task of one case, for one epoch.

A task's state is in Spark's state store and nowhere else. Its input is put in order by sequence number, as Spark keeps
none between partitions; all that is remembered between attempts is which failures have struck.
"""

import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
from attrs import frozen

from conformance.adapters.spark.layout import PASSED_ON, Layout, owner
from conformance.adapters.states import dump, load
from conformance.case import BORDER, Crash, Failure, Kill

ROW = "owner int, case int, task string, inp int, stream string, epoch int, seq int, value string"
COLUMNS = [field.split()[0] for field in ROW.split(", ")]
"""Addressed to a task's input. `value` is JSON, and null for the border that closes an epoch."""

STATE = "state string"

DRIVER = "driver.json"
"""In a query's folder: the machine and the processes of its driver."""

STRUCK = "struck"
"""In a query's folder: the failures that have struck."""

EXECUTOR = "CoarseGrainedExecutorBackend"
"""In the command line of an executor."""


def is_executor(process: psutil.Process) -> bool:
    """Whether a process is one of Spark's executors."""
    return any(EXECUTOR in word for word in process.cmdline())


class Injected(RuntimeError):
    """The failure that a case asks for."""


@frozen
class Strikes:
    """
    The failures of one case, and which have struck: a file each, made by whoever strikes, so each strikes once.

    Those that are `awaited` strike from outside, when the driver has come so far.
    """

    folder: str
    case: int
    failures: tuple[Failure, ...]
    awaited: frozenset[int] = frozenset()

    def place(self, failure: int) -> Path:
        """The file that says a failure has struck, and how."""
        return Path(self.folder, STRUCK, f"{self.case}-{failure}")

    def note(self, failure: int, words: str) -> bool:
        """Say that a failure strikes, unless somebody has: whoever looks finds all the words, or no file."""
        place = self.place(failure)
        unfinished = place.with_name(f".{place.name}-{uuid4()}")
        unfinished.write_text(words, encoding="utf-8")
        try:
            place.hardlink_to(unfinished)
        except FileExistsError:
            return False
        finally:
            unfinished.unlink()
        return True

    def at(self, task: str, epoch: int, place: int | str, handled: int) -> None:
        """A task is about to handle an event, or to pass a border: strike, if that is what the case asks for."""
        for number, failure in enumerate(self.failures):
            if self.place(number).exists():
                continue
            if number not in self.awaited and self._is_here(failure, task, epoch, place, handled):
                self._strike(number, failure, f"{task} in epoch {epoch}, before {_words(place)}")
            return

    def _is_here(self, failure: Failure, task: str, epoch: int, place: int | str, handled: int) -> bool:
        if failure.epoch != epoch:
            return False
        if isinstance(failure, Crash):
            beyond = place == BORDER and (failure.event == BORDER or int(failure.event) >= handled)
            return failure.task == task and (failure.event == place or beyond)
        return isinstance(failure, Kill) and (failure.phase or "processing") == "processing"

    def _strike(self, number: int, failure: Failure, where: str) -> None:
        name, victims = self._victims(failure)
        if not self.note(number, f"{name} {where} (process {os.getpid()})"):
            return
        if not victims:
            raise Injected(where)
        for victim in victims:
            os.kill(victim, signal.SIGKILL)
        time.sleep(3600)  # Nobody is there to answer to.

    def _victims(self, failure: Failure) -> tuple[str, list[int]]:
        """Who is to die, in words and by number; nobody, where a task is to fail."""
        if not isinstance(failure, Kill):
            return "an exception in", []
        if failure.target == "worker":
            executor = next((each for each in psutil.Process().parents() if is_executor(each)), None)
            if executor is not None:
                return "SIGKILL of the executor of", [executor.pid]
            return "SIGKILL of the Python worker of", [os.getpid()]
        driver = json.loads(Path(self.folder, DRIVER).read_text(encoding="utf-8"))
        if driver["host"] != socket.gethostname():
            raise RuntimeError("the driver is on another machine, so no task can kill it")
        return "SIGKILL of the driver by", driver["processes"]


def _words(place: int | str) -> str:
    return "its border" if place == BORDER else f"event {place}"


def operator(
    level: int, batch: Sequence[Layout], strikes: Sequence[Strikes]
) -> Callable[[tuple[int, str], Iterator[Any], Any], Iterator[Any]]:
    """What Spark calls for each task (and for the group that passes rows on) of a level, once in a micro-batch."""
    import pandas as pd  # noqa: PLC0415 - the rest of this module is for a machine without Spark, too

    def run(key: tuple[int, str], chunks: Iterator[Any], state: Any) -> Iterator[Any]:
        number, name = key
        rows = [row for chunk in chunks for row in chunk[COLUMNS].itertuples(index=False)]
        if name == PASSED_ON:
            made = [(row.case, row.stream, row.epoch, row.seq, row.value) for row in rows]
        else:
            made = [(number, *each) for each in _fold(batch[number], name, rows, state, strikes[number])]
        yield pd.DataFrame(
            [
                (owner(case, task), case, task, inp, stream, epoch, seq, value)
                for case, stream, epoch, seq, value in made
                for task, inp in batch[case].routes[level + 1, stream]
            ],
            columns=COLUMNS,
            # Text in Arrow's own arrays, which newer versions of pandas would choose, is more than Spark 4.1 can take.
            dtype=object,
        )

    return run


def _fold(
    layout: Layout, name: str, rows: Sequence[Any], state: Any, strikes: Strikes
) -> list[tuple[str, int, int, str | None]]:
    """One task: its events in an order that takes turns between its inputs, then its border."""
    task = next(task for task in layout.case.graph.tasks if task.name == name)
    value = load(state.get[0]) if state.exists else task.program.initial
    made: list[tuple[str, int, int, str | None]] = []
    for epoch in sorted({int(row.epoch) for row in rows}):
        events = sorted(
            (row for row in rows if row.epoch == epoch and not _is_border(row)), key=lambda row: (row.seq, row.inp)
        )
        outputs: list[Any] = []
        for handled, row in enumerate(events):
            strikes.at(name, epoch, handled, handled)
            value, emitted = task.program(value, json.loads(row.value))
            outputs += emitted
        strikes.at(name, epoch, BORDER, len(events))
        made += [(task.output, epoch, seq, json.dumps(each)) for seq, each in enumerate(outputs)]
        made.append((task.output, epoch, len(outputs), None))
    state.update((dump(value),))
    return made


def _is_border(row: Any) -> bool:
    return not isinstance(row.value, str)
