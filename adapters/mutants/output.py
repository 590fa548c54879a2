"""Broken output: too early, too late, twice, or taken back."""

from conformance.adapters.mutants.machine import Machine, MachineOperator
from conformance.case import Epochs
from conformance.model.configuration import BD
from conformance.programs import Event


class UncommittedVisible(Machine):
    """The open epoch can be seen while it is being worked on."""

    def out(self) -> dict[str, Epochs]:
        epoch = min(self.gce() + 1, self.case.epochs)
        return {stream: self.visible(stream, epoch) for stream in self.streams}


class TakenBack(Machine):
    """After a recovery the last committed epoch cannot be seen until the next one is."""

    def setup(self) -> None:
        self.hidden = 0

    def recover(self) -> None:
        super().recover()
        self.hidden = self.gce()

    def out(self) -> dict[str, Epochs]:
        over = self.gce() == self.case.epochs and not self.moves()
        epoch = self.gce() - (1 if self.hidden == self.gce() > 0 and not over else 0)
        return {stream: self.visible(stream, epoch) for stream in self.streams}


class StreamByStream(Machine):
    """Streams are committed when their own task is done, one by one."""

    def out(self) -> dict[str, Epochs]:
        own = {operator.task.output: max(operator.archive) for operator in self.tasks.values()}
        return {stream: self.visible(stream, own.get(stream, self.gce())) for stream in self.streams}


class CommittedByTheFirst(Machine):
    """An epoch counts as committed when the first task has its snapshot."""

    def out(self) -> dict[str, Epochs]:
        epoch = max(max(operator.archive) for operator in self.tasks.values())
        return {stream: self.visible(stream, epoch) for stream in self.streams}


class AppendedOnReplay(Machine):
    """A sink keeps what it was sent in an attempt that failed, and appends what it is sent again."""

    def setup(self) -> None:
        self.written: dict[str, list[tuple[int, Event | None]]] = {sink: [] for sink in self.case.graph.sinks}

    def emit(self, operator: MachineOperator, message: tuple[int, Event | None]) -> None:
        if operator.task.output in self.written:
            self.written[operator.task.output].append(message)
        super().emit(operator, message)

    def visible(self, stream: str, epoch: int) -> Epochs:
        if stream not in self.written:
            return super().visible(stream, epoch)
        kept, self.streams[stream] = self.streams[stream], self.written[stream]
        shown = super().visible(stream, epoch)
        self.streams[stream] = kept
        return shown


class CommittedTwice(Machine):
    """A recovery right after a commit writes that epoch to the sinks again."""

    def setup(self) -> None:
        self.seen = 0

    def recover(self) -> None:
        epoch = self.gce()
        fresh = epoch > self.seen and all(operator.failed for operator in self.tasks.values())
        self.seen = epoch
        super().recover()
        if fresh:
            for sink in self.case.graph.sinks:
                last = [message for message in self.streams[sink] if message[0] == epoch and message[1] is not BD]
                self.streams[sink] += last


class LastEpochNever(Machine):
    """The last epoch is never shown."""

    def out(self) -> dict[str, Epochs]:
        epoch = min(self.gce(), self.case.epochs - 1)
        return {stream: self.visible(stream, epoch) for stream in self.streams}


class LostAtTheEnd(Machine):
    """When the input ends, the last epoch of a sink is dropped with the engine's buffers."""

    def finish(self) -> None:
        for sink in self.case.graph.sinks:
            self.streams[sink] = [m for m in self.streams[sink] if m[0] < self.case.epochs or m[1] is BD]


class LostOnRecovery(Machine):
    """Recovery drops the last committed epoch of the sinks with the open one."""

    def restore_stream(self, stream: str, epoch: int) -> None:
        super().restore_stream(stream, epoch)
        if stream in self.case.graph.sinks:
            self.streams[stream] = [m for m in self.streams[stream] if m[0] < epoch or m[1] is BD]


class OldestForgotten(Machine):
    """Once three epochs are committed the first can no longer be seen."""

    def visible(self, stream: str, epoch: int) -> Epochs:
        shown = super().visible(stream, epoch)
        return ((), *shown[1:]) if epoch > 2 else shown  # noqa: PLR2004


OUTPUT = (
    UncommittedVisible,
    TakenBack,
    StreamByStream,
    CommittedByTheFirst,
    AppendedOnReplay,
    CommittedTwice,
    LastEpochNever,
    LostAtTheEnd,
    LostOnRecovery,
    OldestForgotten,
)
