"""Broken atomicity: half of a step happens."""

from collections.abc import Sequence
from typing import Any

from conformance.adapters.mutants.machine import Machine, MachineOperator
from conformance.programs import Event


class _HalfAStep(Machine):
    """The first event that each task handles after a recovery goes wrong."""

    def setup(self) -> None:
        self.handled = {(name, 0) for name in self.tasks}

    def is_first(self, operator: MachineOperator) -> bool:
        """Whether this is it."""
        key = (operator.task.name, self.recoveries)
        first = key not in self.handled
        self.handled.add(key)
        return first


class EmittedNotUpdated(_HalfAStep):
    """After a recovery an event's output is sent, and the state is not updated."""

    def compute(self, operator: MachineOperator, event: Event) -> tuple[Any, Sequence[Event]]:
        value, outputs = super().compute(operator, event)
        return (operator.value, outputs) if self.is_first(operator) else (value, outputs)


class UpdatedNotEmitted(_HalfAStep):
    """After a recovery the state is updated for an event, and its output is not sent."""

    def compute(self, operator: MachineOperator, event: Event) -> tuple[Any, Sequence[Event]]:
        value, outputs = super().compute(operator, event)
        return (value, ()) if self.is_first(operator) else (value, outputs)


class UpdatedTwice(_HalfAStep):
    """After a recovery an event is counted twice and shown once."""

    def compute(self, operator: MachineOperator, event: Event) -> tuple[Any, Sequence[Event]]:
        value, outputs = super().compute(operator, event)
        if self.is_first(operator):
            value, _ = operator.task.program(value, event)
        return value, outputs


class CountedOnTheWayDown(Machine):
    """The event that a task crashes on has already been counted, durably, when it dies."""

    def fail(self, operator: MachineOperator) -> None:
        stream = operator.task.inputs[0]
        head = self.head(operator, stream)
        if head is not None and head[1] is not None and head[0] == operator.epoch:
            newest = max(operator.archive)
            operator.archive[newest], _ = operator.task.program(operator.archive[newest], head[1])
        super().fail(operator)


ATOMICITY = (EmittedNotUpdated, UpdatedNotEmitted, UpdatedTwice, CountedOnTheWayDown)
