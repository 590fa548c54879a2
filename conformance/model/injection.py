"""
Fault injection into executions: by a case's schedule, or at random.

In the model a crash is one F-Fail; a kill, a partition or a restart fails every task. When to recover is the
scheduler's choice, as F-Recover is a step like any other.

Nothing is remembered about the execution but the last gce: how far a task is within an epoch can be read off its
sequence numbers, and a recovery sets these back, so counting starts again by itself.
"""

from random import Random
from typing import Protocol

from attrs import define, field

from conformance.case import BORDER, Crash, Failure, Kill, Restart
from conformance.model.configuration import Configuration, Rule, Step
from conformance.model.snapshot import committed, epoch_of, gce

ODDS = 0.3
"""The probability of a kill at a moment at which it is possible; at its last chance it always happens."""


class Injector(Protocol):
    """The choice of failures for an execution."""

    def due(self, c: Configuration, step: Step | None) -> tuple[Step, ...]:
        """Choose the failures that happen in c, just before `step`; `step` is None when nothing else is enabled."""
        ...


@define
class RandomInjector:
    """Up to `most` failures of any tasks, each moment as likely as another."""

    random: Random
    most: int
    odds: float = 0.05

    def due(self, c: Configuration, step: Step | None) -> tuple[Step, ...]:  # noqa: ARG002
        if self.most == 0 or self.random.random() >= self.odds:
            return ()
        self.most -= 1
        processors = list(c.dataflow.processors.values())
        return (processors[int(self.random.random() * len(processors))].fail,)


@define
class ScheduledInjector:
    """The failures of a case: in list order, each once, the next armed when the one before has fired."""

    failures: tuple[Failure, ...]
    random: Random
    fired: int = 0
    _last_gce: int = field(default=0, init=False)

    def due(self, c: Configuration, step: Step | None) -> tuple[Step, ...]:
        if self.fired == len(self.failures):
            return ()
        failure = self.failures[self.fired]
        epoch = gce(c)
        just_committed = epoch if epoch > self._last_gce else 0
        self._last_gce = epoch
        if isinstance(failure, Crash):
            happens = _crashes(failure, c, step)
        elif isinstance(failure, Restart):
            happens = epoch >= failure.epoch
        elif isinstance(failure, Kill) and failure.phase == "commit":
            happens = just_committed == failure.epoch
        elif isinstance(failure, Kill) and failure.phase == "recovery":
            happens = any(epoch_of(c, task) >= failure.epoch for task in c.failed)
        else:
            happens = self._happens_in_flight(failure, c, step)
        if not happens:
            return ()
        self.fired += 1
        if isinstance(failure, Crash):
            return (c.dataflow.processors[failure.task].fail,)
        return tuple(processor.fail for processor in c.dataflow.processors.values())

    def _happens_in_flight(self, failure: Failure, c: Configuration, step: Step | None) -> bool:
        """Decide on a kill or partition while its epoch is being processed, or while its snapshot is under way."""
        if step is None or step.rule is Rule.RECOVER:
            return False
        snapshot = isinstance(failure, Kill) and failure.phase == "snapshot"
        commits = step.rule is Rule.BORDER and _commits(c, step, failure.epoch)
        if snapshot:
            possible = commits or _archived(c, failure.epoch)
        else:
            possible = epoch_of(c, step.task) == failure.epoch or in_flight(c, failure.epoch)
        return possible and (commits or self.random.random() < ODDS)


def handled(c: Configuration, task: str) -> int:
    """Count the events of its current epoch that a task has handled since it last started it."""
    before = epoch_of(c, task) - 1
    inputs = c.dataflow.processors[task].inputs
    return sum(c.numbers[task][stream] - committed(c.messages[stream], before) for stream in inputs)


def in_flight(c: Configuration, epoch: int) -> bool:
    """Tell whether some message of that epoch has been taken, and the epoch is not committed."""
    return gce(c) < epoch and any(
        c.numbers[name][stream] > committed(c.messages[stream], epoch - 1)
        for name, processor in c.dataflow.processors.items()
        for stream in processor.inputs
    )


def _crashes(crash: Crash, c: Configuration, step: Step | None) -> bool:
    if step is None or step.task != crash.task or epoch_of(c, crash.task) != crash.epoch:
        return False
    if crash.event == BORDER:
        return step.rule is Rule.BORDER
    # At the border the epoch had fewer events than the crash waits for, unless its event has already passed.
    passed = handled(c, crash.task)
    return passed == crash.event or (step.rule is Rule.BORDER and passed < int(crash.event))


def _archived(c: Configuration, epoch: int) -> bool:
    """Tell whether the snapshot of that epoch is under way: taken by some task and not by all."""
    return gce(c) < epoch and any(len(archive) > epoch for archive, _ in c.states.values())


def _commits(c: Configuration, step: Step, epoch: int) -> bool:
    """Tell whether this border step would complete that epoch: all others have archived it."""
    others = (len(archive) - 1 for name, (archive, _) in c.states.items() if name != step.task)
    return epoch_of(c, step.task) == epoch and all(archived >= epoch for archived in others)
