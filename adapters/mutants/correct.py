"""Correct but unusual: engines that must never be accused."""

from conformance.adapters.mutants.alignment import Loose
from conformance.adapters.mutants.machine import Machine, MachineOperator
from conformance.case import Epochs
from conformance.model.configuration import BD
from conformance.programs import Event


class Plain(Machine):
    """Nothing is broken."""


class EagerRecovery(Machine):
    """Recovers before any task moves."""

    def choose(self, moves: list[tuple[str, str]]) -> tuple[str, str]:
        return next((move for move in moves if not move[0]), None) or super().choose(moves)


class LazyRecovery(Machine):
    """Recovers when no task can move any more."""

    def choose(self, moves: list[tuple[str, str]]) -> tuple[str, str]:
        return super().choose([move for move in moves if move[0]] or moves)


class SeenRarely(Machine):
    """Observed at the end only."""

    def observe(self) -> None:
        super().observe()
        self.shown = self.shown[-1:]


class SeenLate(Machine):
    """Observations lag: each shows what was committed a while ago."""

    def setup(self) -> None:
        self.past: list[dict[str, Epochs]] = []

    def out(self) -> dict[str, Epochs]:
        self.past.append(super().out())
        over = self.gce() == self.case.epochs and not self.moves()
        return self.past[-1] if over else self.past[max(0, len(self.past) - 3)]


class DepthFirst(Machine):
    """The task furthest down the graph always goes first."""

    def choose(self, moves: list[tuple[str, str]]) -> tuple[str, str]:
        return super().choose([move for move in moves if move[0] == moves[-1][0]])


class BreadthFirst(Machine):
    """The task furthest up the graph always goes first, and is epochs ahead of the others."""

    def choose(self, moves: list[tuple[str, str]]) -> tuple[str, str]:
        return super().choose([move for move in moves if move[0] == moves[0][0]])


class OneByOne(Machine):
    """Streams commit one by one, and says so: each lags by an epoch now and then, none ever goes back."""

    atomic = False

    def setup(self) -> None:
        self.lag: dict[str, int] = {}

    def out(self) -> dict[str, Epochs]:
        over = self.gce() == self.case.epochs and not self.moves()
        for stream in self.streams:
            reached = self.gce() if over or self.random.random() < 0.5 else self.gce() - 1  # noqa: PLR2004
            self.lag[stream] = max(self.lag.get(stream, 0), reached)
        return {stream: self.visible(stream, self.lag[stream]) for stream in self.streams}


class OwnEpochs(Machine):
    """Puts its borders where it likes: after every other event of each source."""

    epochs_by = "own"

    def setup(self) -> None:
        runs: dict[str, list[Event]] = {s: [w for _, w in self.streams[s] if w is not None] for s in self.case.inputs}
        self.number = max(1, *(-(-len(events) // 2) for events in runs.values()))
        for source, events in runs.items():
            log: list[tuple[int, Event | None]] = []
            for epoch in range(1, self.number + 1):
                log += [(epoch, event) for event in events[2 * epoch - 2 : 2 * epoch]]
                log.append((epoch, BD))
            self.streams[source] = log


class Unaligned(Loose):
    """Unaligned snapshots: a border overtakes what other inputs still carry, which is saved with the snapshot."""

    snapshots = "unaligned"

    def setup(self) -> None:
        self.saved: dict[tuple[str, int], tuple[dict[str, int], int]] = {
            (name, 0): (dict(operator.position), 0) for name, operator in self.tasks.items()
        }

    def aligned(self, operator: MachineOperator) -> bool:
        last = operator.epoch == self.case.epochs
        there = self.at_border(operator)
        return len(there) == len(operator.task.inputs) if last else bool(there)

    def pass_border(self, operator: MachineOperator) -> None:
        epoch = operator.epoch
        super().pass_border(operator)
        self.saved[operator.task.name, epoch] = (dict(operator.position), len(self.streams[operator.task.output]))

    def restore_stream(self, stream: str, epoch: int) -> None:
        for name, operator in self.tasks.items():
            if operator.task.output == stream:
                self.streams[stream] = self.streams[stream][: self.saved[name, epoch][1]]

    def restore_inputs(self, operator: MachineOperator, epoch: int) -> None:
        operator.position = dict(self.saved[operator.task.name, epoch][0])


CORRECT: tuple[type[Machine], ...] = (
    Plain,
    EagerRecovery,
    LazyRecovery,
    SeenRarely,
    SeenLate,
    DepthFirst,
    BreadthFirst,
    OneByOne,
    OwnEpochs,
    Unaligned,
)
