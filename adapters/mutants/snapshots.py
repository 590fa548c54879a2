"""Broken snapshots: of the wrong moment, the wrong epoch, the wrong task, or not at all."""

from typing import Any

from rpds import HashTrieMap, HashTrieSet

from conformance.adapters.mutants.machine import Machine, MachineOperator
from conformance.model.configuration import BD


class TooEarly(Machine):
    """The snapshot lacks the last event of its epoch."""

    def setup(self) -> None:
        self.before: dict[str, Any] = {}

    def consume(self, operator: MachineOperator, stream: str) -> None:
        self.before[operator.task.name] = operator.value
        super().consume(operator, stream)

    def snapshot(self, operator: MachineOperator) -> None:
        operator.archive[operator.epoch] = self.before.get(operator.task.name, operator.value)


class TooLate(Machine):
    """The snapshot has the first event of the next epoch in it."""

    def setup(self) -> None:
        self.done = {(name, 0) for name in self.tasks}

    def consume(self, operator: MachineOperator, stream: str) -> None:
        super().consume(operator, stream)
        newest = max(operator.archive)
        if (operator.task.name, newest) not in self.done:
            self.done.add((operator.task.name, newest))
            operator.archive[newest] = operator.value


class MissingForOneTask(Machine):
    """One task's snapshots are all its initial state."""

    def snapshot(self, operator: MachineOperator) -> None:
        first = next(iter(self.tasks.values()))
        operator.archive[operator.epoch] = operator.task.program.initial if operator is first else operator.value


class Aliased(Machine):
    """The newest snapshot is the live state, not a copy of it."""

    def consume(self, operator: MachineOperator, stream: str) -> None:
        super().consume(operator, stream)
        if max(operator.archive) > 0:
            operator.archive[max(operator.archive)] = operator.value


class OfThePreviousEpoch(Machine):
    """The snapshot of an epoch is that of the one before."""

    def setup(self) -> None:
        self.last: dict[str, Any] = {}

    def snapshot(self, operator: MachineOperator) -> None:
        operator.archive[operator.epoch] = self.last.get(operator.task.name, operator.task.program.initial)
        self.last[operator.task.name] = operator.value


class OnlyTheFirst(Machine):
    """Only the first snapshot is ever written; later ones are found to exist already."""

    def snapshot(self, operator: MachineOperator) -> None:
        operator.archive[operator.epoch] = operator.archive.get(1, operator.value)


class PartOfTheState(Machine):
    """Of a state with several entries one is not saved."""

    def snapshot(self, operator: MachineOperator) -> None:
        operator.archive[operator.epoch] = _without_one(operator.value)


def _without_one(value: Any) -> Any:
    if isinstance(value, HashTrieMap) and value:
        return value.remove(max(value))
    if isinstance(value, HashTrieSet) and value:
        return value.remove(max(value))
    return (0, value[1]) if isinstance(value, tuple) else value


class BeforeAlignment(Machine):
    """The state is saved when the first input reaches the border; what the others bring until then is not in it."""

    def setup(self) -> None:
        self.saved: dict[str, Any] = {}

    def consume(self, operator: MachineOperator, stream: str) -> None:
        if any(self.head(operator, each) == (operator.epoch, BD) for each in operator.task.inputs):
            self.saved.setdefault(operator.task.name, operator.value)
        super().consume(operator, stream)

    def snapshot(self, operator: MachineOperator) -> None:
        operator.archive[operator.epoch] = self.saved.pop(operator.task.name, operator.value)

    def recover(self) -> None:
        super().recover()
        self.saved.clear()


class SharedByTasks(Machine):
    """Tasks that run the same program write their snapshots to the same place."""

    def restore_state(self, operator: MachineOperator, epoch: int) -> None:
        super().restore_state(operator, epoch)
        for other in self.tasks.values():
            if other.task.program == operator.task.program and epoch in other.archive:
                operator.value = other.archive[epoch]


class ResetAfterSnapshot(Machine):
    """Taking a snapshot clears the state."""

    def snapshot(self, operator: MachineOperator) -> None:
        super().snapshot(operator)
        operator.value = operator.task.program.initial


SNAPSHOTS = (
    TooEarly,
    TooLate,
    MissingForOneTask,
    Aliased,
    OfThePreviousEpoch,
    OnlyTheFirst,
    PartOfTheState,
    BeforeAlignment,
    SharedByTasks,
    ResetAfterSnapshot,
)
