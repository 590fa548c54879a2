"""
The failure that an attempt is to die of.

Failures happen in their order, each once, and each ends the process: so an attempt has at most one. Whoever strikes
leaves a file first, with how it came to that.
"""

import os
import signal
from pathlib import Path
from random import Random

from attrs import frozen

from conformance.case import BORDER, Case, Crash, Failure, Kill
from conformance.codec import digest


class Injected(RuntimeError):
    """The crash that a case asks for."""


@frozen
class Strike:
    """
    A failure with its place: a task, and an event (or the border) that it is about to handle in some epoch.

    A crash says where. For a kill it is chosen, so that kills come at all points of an epoch.
    """

    file: Path
    failure: Failure
    task: str
    event: int | str

    def at(self, task: str, epoch: int, place: int | str, handled: int) -> None:
        """A task is about to handle an event, or to pass a border after so many: die, if it is to be here."""
        if self._phase != "processing" or (self.task, self.failure.epoch) != (task, epoch):
            return
        beyond = place == BORDER and (self.event == BORDER or int(self.event) >= handled)
        if self.event == place or beyond:
            self._die(f"in {task}, epoch {epoch}, before {'its border' if place == BORDER else f'event {place}'}")

    def in_snapshot(self, task: str | None, epoch: int) -> None:
        """The engine is about to save the state of a task, or of all of them, at the end of an epoch."""
        if self._phase == "snapshot" and self.failure.epoch == epoch and task in {self.task, None}:
            self._die(f"when the state of {task or 'all tasks'} was to be saved at the end of epoch {epoch}")

    def in_recovery(self, epoch: int, what: str) -> None:
        """The engine restores something, to go on with this epoch."""
        if self._phase == "recovery" and epoch >= self.failure.epoch:
            self._die(f"when {what} was restored")

    @property
    def _phase(self) -> str:
        match self.failure:
            case Crash():
                return "processing"
            case Kill(phase=phase):
                return phase or "processing"
        return "none"

    def _die(self, where: str) -> None:
        is_crash = isinstance(self.failure, Crash)
        how = "an exception" if is_crash else f"SIGKILL of process {os.getpid()}"
        with self.file.open("x", encoding="utf-8") as file:
            file.write(f"{how} {where}")
        if is_crash:
            raise Injected(where)
        os.kill(os.getpid(), signal.SIGKILL)


def strike(case: Case, number: int, seed: int, file: Path) -> Strike:
    """The failure of a case with that number, at its place."""
    failure = case.failures[number]
    if isinstance(failure, Crash):
        return Strike(file, failure, failure.task, failure.event)
    chance = Random(f"{seed}/{digest(case)}/{number}")
    places: list[int | str] = [0, 1, 2, BORDER]
    return Strike(file, failure, chance.choice(case.graph.tasks).name, chance.choice(places))
