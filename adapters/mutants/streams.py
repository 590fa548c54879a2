"""Broken streams: out of order, kept, lost, or for some of their readers only."""

from conformance.adapters.mutants.machine import Machine, MachineOperator
from conformance.model.configuration import BD
from conformance.programs import Event


class NotFifo(Machine):
    """Two events of a stream change places now and then, for one of its readers."""

    def may_swap(self) -> bool:
        """Whether this is a moment for it."""
        return self.random.random() < 0.5  # noqa: PLR2004

    def consume(self, operator: MachineOperator, stream: str) -> None:
        at, log = operator.position[stream], self.streams[stream]
        if at + 1 < len(log) and log[at + 1][1] is not BD and self.may_swap():
            operator.position[stream] += 2
            self.handle(operator, stream, at + 1)
            self.handle(operator, stream, at)
        else:
            super().consume(operator, stream)


class NotFifoAfterRecovery(NotFifo):
    """The same, but only once something has been recovered."""

    def may_swap(self) -> bool:
        return self.recoveries > 0


class InFlightKept(Machine):
    """What the failed attempt had sent is still there after recovery."""

    def restore_stream(self, stream: str, epoch: int) -> None:
        """Nothing is forgotten."""


class InFlightKeptBetweenTasks(Machine):
    """The same, but only for streams between tasks."""

    def restore_stream(self, stream: str, epoch: int) -> None:
        if stream in self.case.graph.sinks:
            super().restore_stream(stream, epoch)


class _FirstAfterRecovery(Machine):
    """Something happens to the first event that each task sends after a recovery."""

    copies = 1

    def setup(self) -> None:
        self.sent = {(name, 0) for name in self.tasks}

    def emit(self, operator: MachineOperator, message: tuple[int, Event | None]) -> None:
        key = (operator.task.name, self.recoveries)
        first = key not in self.sent and message[1] is not BD
        if first:
            self.sent.add(key)
        for _ in range(self.copies if first else 1):
            super().emit(operator, message)


class DropsTheFirstAfterRecovery(_FirstAfterRecovery):
    """The first event that a task sends after a recovery is lost."""

    copies = 0


class TwiceAfterRecovery(_FirstAfterRecovery):
    """The first event that a task sends after a recovery is sent twice."""

    copies = 2


class ForOneReaderOnly(Machine):
    """After a recovery, an event that one reader of a stream takes is not there for the others."""

    def setup(self) -> None:
        self.taken: set[tuple[str, int]] = set()

    def consume(self, operator: MachineOperator, stream: str) -> None:
        key = (stream, operator.position[stream])
        if self.recoveries and key in self.taken:
            operator.position[stream] += 1
            return
        self.taken.add(key)
        super().consume(operator, stream)

    def recover(self) -> None:
        super().recover()
        self.taken.clear()


class RestoredForOneReader(Machine):
    """Where a stream has several readers, recovery rewinds it for the failed ones only."""

    def restore_inputs(self, operator: MachineOperator, epoch: int) -> None:
        before = dict(operator.position)
        super().restore_inputs(operator, epoch)
        for stream in operator.task.inputs:
            shared = sum(stream in other.task.inputs for other in self.tasks.values()) > 1
            if shared and not operator.failed:
                log = self.streams[stream]
                while (
                    operator.position[stream] < min(before[stream], len(log))
                    and log[operator.position[stream]][1] is not BD
                ):
                    operator.position[stream] += 1


class Overflows(Machine):
    """A stream that holds more than three unread events forgets one."""

    def consume(self, operator: MachineOperator, stream: str) -> None:
        super().consume(operator, stream)
        ahead = [w for e, w in self.streams[stream][operator.position[stream] :] if e == operator.epoch and w is not BD]
        if len(ahead) > 3:  # noqa: PLR2004
            operator.position[stream] += 1


STREAMS = (
    NotFifo,
    NotFifoAfterRecovery,
    InFlightKept,
    InFlightKeptBetweenTasks,
    DropsTheFirstAfterRecovery,
    TwiceAfterRecovery,
    ForOneReaderOnly,
    RestoredForOneReader,
    Overflows,
)
