"""Broken alignment: what belongs behind a border gets before it, or the other way round."""

from conformance.adapters.mutants.machine import Machine, MachineOperator
from conformance.model.configuration import BD
from conformance.programs import Event


class OvertakesTheBorder(Machine):
    """While one input waits at its border for the others, its events of the next epoch are taken early."""

    def setup(self) -> None:
        self.taken: set[tuple[str, str, int]] = set()

    def head(self, operator: MachineOperator, stream: str) -> tuple[int, Event | None] | None:
        while (operator.task.name, stream, operator.position[stream]) in self.taken:
            operator.position[stream] += 1
        return super().head(operator, stream)

    def beyond(self, operator: MachineOperator, stream: str) -> int | None:
        """Where the first untaken event behind the border stands."""
        head = self.head(operator, stream)
        if head is None or head[1] is not BD or head[0] != operator.epoch or self.aligned(operator):
            return None
        at = operator.position[stream] + 1
        while (operator.task.name, stream, at) in self.taken:
            at += 1
        there = at < len(self.streams[stream]) and self.streams[stream][at][1] is not BD
        return at if there else None

    def accepts(self, operator: MachineOperator, stream: str) -> bool:
        return super().accepts(operator, stream) or self.beyond(operator, stream) is not None

    def consume(self, operator: MachineOperator, stream: str) -> None:
        if super().accepts(operator, stream):
            super().consume(operator, stream)
            return
        at = self.beyond(operator, stream)
        if at is None:
            return
        self.taken.add((operator.task.name, stream, at))
        self.handle(operator, stream, at)

    def recover(self) -> None:
        super().recover()
        self.taken.clear()


class Loose(Machine):
    """Takes what earlier epochs left, and passes borders it has already answered for."""

    def head(self, operator: MachineOperator, stream: str) -> tuple[int, Event | None] | None:
        head = super().head(operator, stream)
        while head is not None and head[1] is BD and head[0] < operator.epoch:
            operator.position[stream] += 1
            head = super().head(operator, stream)
        return head

    def accepts(self, operator: MachineOperator, stream: str) -> bool:
        head = self.head(operator, stream)
        return head is not None and head[1] is not BD and head[0] <= operator.epoch

    def at_border(self, operator: MachineOperator) -> list[str]:
        """List the inputs that are at the border of the task's epoch."""
        heads = {stream: self.head(operator, stream) for stream in operator.task.inputs}
        return [s for s, head in heads.items() if head is not None and head[1] is BD and head[0] == operator.epoch]

    def pass_border(self, operator: MachineOperator) -> None:
        for stream in self.at_border(operator):
            operator.position[stream] += 1
        self.snapshot(operator)
        self.emit(operator, (operator.epoch, BD))
        operator.epoch += 1


class PassesOnTheFirstBorder(Loose):
    """Passes a border on when the first input reaches it, and counts the rest of the others in the next epoch."""

    def aligned(self, operator: MachineOperator) -> bool:
        return bool(self.at_border(operator))


class PassesOneInputShort(Loose):
    """Passes a border on with one input still missing."""

    def aligned(self, operator: MachineOperator) -> bool:
        inputs = len(operator.task.inputs)
        return len(self.at_border(operator)) >= (inputs - 1 if inputs > 1 else 1)


class ForgetsAnInput(Machine):
    """Waits for the borders of all inputs but skips what the last one still had in the epoch."""

    def pass_border(self, operator: MachineOperator) -> None:
        for stream in operator.task.inputs:
            while (head := self.head(operator, stream)) is not None and head != (operator.epoch, BD):
                operator.position[stream] += 1
        super().pass_border(operator)

    def aligned(self, operator: MachineOperator) -> bool:
        *first, last = operator.task.inputs
        if not first:
            return super().aligned(operator)
        at_border = all(self.head(operator, stream) == (operator.epoch, BD) for stream in first)
        return at_border and (operator.epoch, BD) in self.streams[last][operator.position[last] :]


class EmitsAfterItsBorder(Machine):
    """An output is held back until the next one comes: the last of an epoch gets behind the epoch's border."""

    def setup(self) -> None:
        self.held: dict[str, Event | None] = {}

    def emit(self, operator: MachineOperator, message: tuple[int, Event | None]) -> None:
        before = self.held.pop(operator.task.name, BD)
        last = operator.epoch == self.case.epochs
        if before is not BD and (message[1] is not BD or last):
            super().emit(operator, (message[0], before))
        if message[1] is BD:
            super().emit(operator, message)
            if before is not BD and not last:
                super().emit(operator, (message[0] + 1, before))
        else:
            self.held[operator.task.name] = message[1]

    def recover(self) -> None:
        super().recover()
        self.held.clear()


class BlocksNobody(Machine):
    """A border blocks no input: each goes on into the next epoch, and the snapshot is taken when all have passed."""

    def accepts(self, operator: MachineOperator, stream: str) -> bool:
        at, log = operator.position[stream], self.streams[stream]
        if at < len(log) and log[at] == (operator.epoch, BD) and not self.aligned(operator):
            return at + 1 < len(log) and log[at + 1][1] is not BD
        return super().accepts(operator, stream)

    def consume(self, operator: MachineOperator, stream: str) -> None:
        at, log = operator.position[stream], self.streams[stream]
        if log[at] == (operator.epoch, BD):
            # The event and the border change places, for all readers of the stream.
            log[at], log[at + 1] = (operator.epoch, log[at + 1][1]), log[at]
        super().consume(operator, stream)


ALIGNMENT = (
    OvertakesTheBorder,
    PassesOnTheFirstBorder,
    PassesOneInputShort,
    ForgetsAnInput,
    EmitsAfterItsBorder,
    BlocksNobody,
)
