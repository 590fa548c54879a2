"""
Executions: a scheduler's choice of steps, with failures put in between.

A scheduler chooses among the steps that are enabled; an injector may put failures before the chosen step. Every
execution made here is fair: failures are finite, and a step that stays enabled is taken before the execution ends,
because it ends only when no step but F-Fail is enabled.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from random import Random
from typing import Protocol, TypeAlias

from attrs import define, frozen

from conformance.case import Case
from conformance.model.configuration import RECOVER, Configuration, Step, Trace, initial
from conformance.model.injection import Injector, ScheduledInjector
from conformance.model.rules import ready, successor

RECOVERY = ""
"""The key under which F-Recover stands among the tasks; no task has an empty name."""

Ready: TypeAlias = Mapping[str, tuple[Step, ...]]
"""The enabled steps other than F-Fail, by task; never an empty tuple."""


class Scheduler(Protocol):
    """The choice of the next step. `ready` is not empty."""

    def choose(self, c: Configuration, ready: Ready) -> Step:
        """Choose one of the steps in `ready`."""
        ...


@define
class RandomScheduler:
    """Any enabled step, by a seeded generator: fair with probability one, and replayable."""

    random: Random

    @classmethod
    def seeded(cls, seed: int) -> "RandomScheduler":
        """Make the random scheduler of this seed."""
        return cls(Random(seed))

    def choose(self, c: Configuration, ready: Ready) -> Step:  # noqa: ARG002
        names = list(ready)
        steps = ready[names[int(self.random.random() * len(names))]]
        return steps[0] if len(steps) == 1 else steps[int(self.random.random() * len(steps))]


@define
class RoundRobin:
    """Tasks in turn; within a task its inputs in turn."""

    turn: int = 0

    def choose(self, c: Configuration, ready: Ready) -> Step:
        names = [*c.dataflow.processors, RECOVERY]
        while names[self.turn % len(names)] not in ready:
            self.turn += 1
        steps = ready[names[self.turn % len(names)]]
        self.turn += 1
        return steps[(self.turn // len(names)) % len(steps)]


@define
class Deferring:
    """Some tasks go last: they move only when no other task can. The longest starvation that fairness allows."""

    is_deferred: Callable[[Configuration, str], bool]
    others: Scheduler

    def choose(self, c: Configuration, ready: Ready) -> Step:
        first = {name: steps for name, steps in ready.items() if name == RECOVERY or not self.is_deferred(c, name)}
        return self.others.choose(c, first or ready)


def starving(task: str, others: Scheduler) -> Deferring:
    """Make the adversary: `task` goes last, always."""
    return Deferring(lambda _, name: name == task, others)


def holding(case: Case, others: Scheduler) -> Scheduler:
    """Apply a case's holds: a held task goes last as long as it is in the epoch it is held in."""
    if not case.holds:
        return others
    held = {(hold.task, hold.epoch) for hold in case.holds}

    def is_held(c: Configuration, name: str) -> bool:
        volatile = c.states[name][1]
        return volatile is not None and (name, volatile[0]) in held

    return Deferring(is_held, others)


def execution(
    c: Configuration, scheduler: Scheduler, injector: Injector | None = None
) -> Iterator[tuple[Step, Configuration]]:
    """Run one fair execution from c; yield its steps, each with the configuration after it."""
    enabled: dict[str, tuple[Step, ...]] = {}
    _refresh(enabled, c, c.dataflow.processors)
    affected = c.dataflow.affected
    choose = scheduler.choose
    while True:
        step = choose(c, enabled) if enabled else None
        if injector is not None and (failures := injector.due(c, step)):
            for failure in failures:
                c = _after(c, failure)
                enabled.pop(failure.task, None)
                yield failure, c
            enabled[RECOVERY] = (RECOVER,)
            continue
        if step is None:
            return
        c = _after(c, step)
        if step is RECOVER:
            del enabled[RECOVERY]
            _refresh(enabled, c, c.dataflow.processors)
        else:
            _refresh(enabled, c, affected[step.task])
        yield step, c


def _after(c: Configuration, step: Step) -> Configuration:
    after = successor(c, step)
    if after is None:
        raise AssertionError(f"{step} was chosen and is not enabled")
    return after


def _refresh(enabled: dict[str, tuple[Step, ...]], c: Configuration, names: Iterable[str]) -> None:
    for name in names:
        if steps := ready(c, name):
            enabled[name] = steps
        else:
            enabled.pop(name, None)


@frozen
class Execution:
    """One finished execution: its trace, the configuration it ended in, and how many of the case's failures fired."""

    trace: Trace
    end: Configuration
    fired: int


def run(case: Case, seed: int = 0) -> Execution:
    """Run one random execution of a case with its failures and holds."""
    injector = ScheduledInjector(case.failures, Random(seed))
    end = initial(case)
    trace = []
    for step, after in execution(end, holding(case, RandomScheduler.seeded(seed)), injector):
        trace.append(step)
        end = after
    return Execution(tuple(trace), end, injector.fired)
