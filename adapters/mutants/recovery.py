"""Broken recovery: to the wrong place, of some tasks only, or of half of what a task is."""

from conformance.adapters.mutants.machine import Machine, MachineOperator
from conformance.model.configuration import BD


class OnlyTheFailedTask(Machine):
    """Only the tasks that failed go back; the others, and what was sent, stay where they are."""

    def recover(self) -> None:
        epoch = self.recovery_point()
        for operator in self.tasks.values():
            if operator.failed:
                self.restore(operator, epoch)
        self.recoveries += 1


class ToTheNewest(Machine):
    """Each task goes back to its own newest snapshot instead of the newest common one."""

    def restore(self, operator: MachineOperator, epoch: int) -> None:
        super().restore(operator, max(operator.archive, default=epoch))

    def recovery_point(self) -> int:
        return max(max(operator.archive) for operator in self.tasks.values())


class ToAnOlderOne(Machine):
    """Tasks go back one epoch too far, and the output of that epoch is kept."""

    def restore_state(self, operator: MachineOperator, epoch: int) -> None:
        super().restore_state(operator, max(epoch - 1, 0))

    def restore_inputs(self, operator: MachineOperator, epoch: int) -> None:
        super().restore_inputs(operator, max(epoch - 1, 0))


class StateWithoutInputs(Machine):
    """The state goes back and the position in the input does not."""

    def restore_inputs(self, operator: MachineOperator, epoch: int) -> None:
        for stream in operator.task.inputs:
            operator.position[stream] = min(operator.position[stream], len(self.streams[stream]))
            while (head := self.head(operator, stream)) is not None and head == (epoch, BD):
                operator.position[stream] += 1
            operator.position[stream] = max(operator.position[stream], self.length(stream, epoch))


class InputsWithoutState(Machine):
    """The position in the input goes back and the state does not."""

    def restore_state(self, operator: MachineOperator, epoch: int) -> None:
        operator.epoch = epoch + 1


class StateFromTheStart(Machine):
    """The state goes back to the very beginning."""

    def restore_state(self, operator: MachineOperator, epoch: int) -> None:
        super().restore_state(operator, epoch)
        operator.value = operator.task.program.initial


class OneAhead(Machine):
    """After recovery each task skips one event."""

    def restore_inputs(self, operator: MachineOperator, epoch: int) -> None:
        super().restore_inputs(operator, epoch)
        stream = operator.task.inputs[0]
        head = self.head(operator, stream)
        if head is not None and head[1] is not BD:
            operator.position[stream] += 1


class OneBehind(Machine):
    """After recovery each task handles the last event before its snapshot again."""

    def restore(self, operator: MachineOperator, epoch: int) -> None:
        super().restore(operator, epoch)
        events = [w for e, w in self.streams[operator.task.inputs[0]] if e == epoch and w is not None]
        if events:
            operator.value, _ = self.compute(operator, events[-1])


class OneTaskNot(Machine):
    """The last task of the graph keeps its state."""

    def restore_state(self, operator: MachineOperator, epoch: int) -> None:
        value = operator.value
        super().restore_state(operator, epoch)
        if operator is list(self.tasks.values())[-1] and not operator.failed:
            operator.value = value


class SecondFailureForgotten(Machine):
    """A failure during recovery is taken for part of the first: what was sent in between is kept."""

    def setup(self) -> None:
        self.recovered_to = -1

    def restore_stream(self, stream: str, epoch: int) -> None:
        if self.recovered_to != epoch:
            super().restore_stream(stream, epoch)

    def recover(self) -> None:
        super().recover()
        self.recovered_to = self.gce()


class NothingBeforeTheFirstCommit(Machine):
    """Without a snapshot to go back to, tasks start anew but read on from where they were."""

    def restore_inputs(self, operator: MachineOperator, epoch: int) -> None:
        if epoch > 0 or not operator.failed:
            super().restore_inputs(operator, epoch)
        else:
            for stream in operator.task.inputs:
                operator.position[stream] = min(operator.position[stream], len(self.streams[stream]))


class SourcesNotRewound(Machine):
    """Tasks go back, but what they had read from the sources of the open epoch is not read again."""

    def restore_inputs(self, operator: MachineOperator, epoch: int) -> None:
        before = dict(operator.position)
        super().restore_inputs(operator, epoch)
        for stream in operator.task.inputs:
            if stream in self.case.inputs:
                while (
                    operator.position[stream] < before[stream]
                    and self.streams[stream][operator.position[stream]][1] is not BD
                ):
                    operator.position[stream] += 1


class BufferTwice(Machine):
    """What a task had gathered is restored, and added to what it holds."""

    def restore_state(self, operator: MachineOperator, epoch: int) -> None:
        super().restore_state(operator, epoch)
        if isinstance(operator.value, tuple):
            operator.value = (operator.value[0], operator.value[1] * 2)
        elif isinstance(operator.value, int):
            operator.value = operator.value * 2


class EveryOtherRecovery(Machine):
    """Every second recovery restores no state."""

    def restore_state(self, operator: MachineOperator, epoch: int) -> None:
        value = operator.value
        super().restore_state(operator, epoch)
        if self.recoveries % 2 == 1:
            operator.value = value


RECOVERY = (
    OnlyTheFailedTask,
    ToTheNewest,
    ToAnOlderOne,
    StateWithoutInputs,
    InputsWithoutState,
    StateFromTheStart,
    OneAhead,
    OneBehind,
    OneTaskNot,
    SecondFailureForgotten,
    NothingBeforeTheFirstCommit,
    SourcesNotRewound,
    BufferTwice,
    EveryOtherRecovery,
)
