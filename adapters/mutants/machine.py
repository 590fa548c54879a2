"""
A second implementation of the model, as a machine that can be broken.

The reference model consists of pure functions that refuse a configuration that is not well formed; a broken engine
produces such configurations. This machine implements the same semantics with lists and dictionaries that are changed
in place, and in small methods, each of which a mutant can get wrong. Unbroken, it conforms: `correct.Plain` is this
machine and is never accused.
"""

from collections.abc import Sequence
from random import Random
from typing import Any

from conformance.adapters.reference import OBSERVATION_ODDS
from conformance.case import BORDER, Case, Crash, Epochs, Failure, Kill, Restart, Task
from conformance.codec import digest
from conformance.engine import Description, RunRequest
from conformance.model.configuration import BD
from conformance.model.injection import ODDS
from conformance.observation import End, EngineInfo, EpochsBy, Fired, Observation, Observations, Snapshots
from conformance.programs import Event

MOST_STEPS = 4_000
"""Steps after which a run counts as stalled."""


class MachineOperator:
    """One task: its durable snapshots, and the volatile state that a failure destroys."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.archive: dict[int, Any] = {0: task.program.initial}
        self.epoch = 1
        self.value = task.program.initial
        self.failed = False
        self.position = dict.fromkeys(task.inputs, 0)


class Machine:
    """Asynchronous barrier snapshotting. Every method is a place where an engine can go wrong."""

    epochs_by: EpochsBy = "given"
    atomic = True
    snapshots: Snapshots = "aligned"

    def __init__(self, request: RunRequest) -> None:
        self.case: Case = request.case
        self.request = request
        self.random = Random(f"{request.seed}/{digest(request.case)}")
        self.tasks = {task.name: MachineOperator(task) for task in request.case.graph.in_order}
        self.streams: dict[str, list[tuple[int, Event | None]]] = {stream: [] for stream in request.case.graph.streams}
        for source, epochs in request.case.inputs.items():
            for number, events in enumerate(epochs, start=1):
                self.streams[source] += [(number, event) for event in events] + [(number, BD)]
        self.steps = 0
        self.recoveries = 0
        self.last_commit = 0
        self.shown: list[Observation] = []
        self.fired: list[Fired] = []
        self.log: list[dict[str, Any]] = []
        self.sending: list[list[Any]] = []
        self.setup()

    def setup(self) -> None:
        """Initialize the state that a mutant adds."""

    # The steps of a task.

    def head(self, operator: MachineOperator, stream: str) -> tuple[int, Event | None] | None:
        """Give the next message of an input, if there is one."""
        at, log = operator.position[stream], self.streams[stream]
        return log[at] if at < len(log) else None

    def accepts(self, operator: MachineOperator, stream: str) -> bool:
        """Whether the next message of this input is an event of the task's epoch."""
        head = self.head(operator, stream)
        return head is not None and head[1] is not BD and head[0] == operator.epoch

    def aligned(self, operator: MachineOperator) -> bool:
        """Whether every input is at its border."""
        heads = [self.head(operator, stream) for stream in operator.task.inputs]
        return all(head is not None and head[1] is BD and head[0] == operator.epoch for head in heads)

    def consume(self, operator: MachineOperator, stream: str) -> None:
        """I-Event."""
        self.head(operator, stream)  # A mutant may skip messages here.
        at = operator.position[stream]
        operator.position[stream] += 1
        self.handle(operator, stream, at)

    def handle(self, operator: MachineOperator, stream: str, at: int) -> None:
        """Apply the program to the event at a position of a stream, and send the output."""
        _, event = self.streams[stream][at]
        if event is not None:
            self.record("event", operator, stream=stream, seq=at, value=event)
            operator.value, outputs = self.compute(operator, event)
            for output in outputs:
                self.emit(operator, (operator.epoch, output))

    def compute(self, operator: MachineOperator, event: Event) -> tuple[Any, Sequence[Event]]:
        """f(v, w)."""
        result: tuple[Any, Sequence[Event]] = operator.task.program(operator.value, event)
        return result

    def emit(self, operator: MachineOperator, message: tuple[int, Event | None]) -> None:
        """Append to the task's output."""
        stream = self.streams[operator.task.output]
        self.sending.append([len(stream), message[1]])
        stream.append(message)

    def pass_border(self, operator: MachineOperator) -> None:
        """I-Border."""
        for stream in operator.task.inputs:
            operator.position[stream] += 1
        self.snapshot(operator)
        self.emit(operator, (operator.epoch, BD))
        operator.epoch += 1

    def snapshot(self, operator: MachineOperator) -> None:
        """Archive the state of the epoch that ends."""
        operator.archive[operator.epoch] = operator.value

    def record(self, do: str, operator: MachineOperator, **details: Any) -> None:
        """Add a step of a task to the log. The messages sent until the next step belong to it."""
        self.sending = []
        self.log.append(
            {"do": do, "task": operator.task.name, "epoch": operator.epoch, **details, "sends": self.sending}
        )

    # Durable and visible state.

    def gce(self) -> int:
        """Compute the greatest common epoch."""
        return min(max(operator.archive) for operator in self.tasks.values())

    def out(self) -> dict[str, Epochs]:
        """Give the streams as an observer sees them."""
        return {stream: self.visible(stream, self.gce()) for stream in self.streams}

    def visible(self, stream: str, epoch: int) -> Epochs:
        """Give a stream's events up to an epoch."""
        shown: list[list[Event]] = [[] for _ in range(epoch)]
        for e, event in self.streams[stream]:
            if event is not BD and e <= epoch:
                shown[e - 1].append(event)
        return tuple(map(tuple, shown))

    # Failure and recovery.

    def fail(self, operator: MachineOperator) -> None:
        """F-Fail."""
        operator.failed = True

    def recover(self) -> None:
        """F-Recover: restore everything to the latest common snapshot."""
        epoch = self.recovery_point()
        for stream in self.streams:
            self.restore_stream(stream, epoch)
        for operator in self.tasks.values():
            self.restore(operator, epoch)
        self.recoveries += 1

    def recovery_point(self) -> int:
        """Choose the epoch to restore."""
        return self.gce()

    def restore_stream(self, stream: str, epoch: int) -> None:
        """Forget the messages of later epochs; a source keeps them, to be read again."""
        if stream not in self.case.inputs:
            self.streams[stream] = [message for message in self.streams[stream] if message[0] <= epoch]

    def restore(self, operator: MachineOperator, epoch: int) -> None:
        """Restore a task to its snapshot of an epoch."""
        operator.archive = {e: value for e, value in operator.archive.items() if e <= epoch}
        self.restore_state(operator, epoch)
        self.restore_inputs(operator, epoch)
        operator.failed = False

    def restore_state(self, operator: MachineOperator, epoch: int) -> None:
        """Restore a task's value and epoch."""
        operator.value = operator.archive[epoch]
        operator.epoch = epoch + 1

    def restore_inputs(self, operator: MachineOperator, epoch: int) -> None:
        """Restore a task's positions in its inputs."""
        for stream in operator.task.inputs:
            operator.position[stream] = self.length(stream, epoch)

    def length(self, stream: str, epoch: int) -> int:
        """How many messages of a stream belong to epochs up to this one."""
        return sum(e <= epoch for e, _ in self.streams[stream])

    # The run: which step is next, and which failures happen.

    def moves(self) -> list[tuple[str, str]]:
        """List the possible steps: a task with an input or the border; or no task with a recovery."""
        found = []
        for name, operator in self.tasks.items():
            if operator.failed:
                continue
            found += [(name, stream) for stream in operator.task.inputs if self.accepts(operator, stream)]
            if self.aligned(operator):
                found.append((name, BORDER))
        if any(operator.failed for operator in self.tasks.values()):
            found.append(("", "recover"))
        return found

    def choose(self, moves: list[tuple[str, str]]) -> tuple[str, str]:
        """Choose the next step at random; held tasks go last."""
        held = {(hold.task, hold.epoch) for hold in self.case.holds}
        free = [move for move in moves if not move[0] or (move[0], self.tasks[move[0]].epoch) not in held]
        return self.random.choice(free or moves)

    def step(self, move: tuple[str, str]) -> None:
        """Take a step."""
        name, place = move
        if not name:
            self.recover()
            self.log.append({"do": "recover", "epoch": self.gce()})
        elif place == BORDER:
            self.record(BORDER, self.tasks[name])
            self.pass_border(self.tasks[name])
        else:
            self.consume(self.tasks[name], place)

    def run(self) -> Observations:
        """Run the case, with observations after some commits, after every failure and at the end."""
        self.observe()
        failed = False
        while self.steps < MOST_STEPS:
            moves = self.moves()
            move = self.choose(moves) if moves else None
            failing = self.failing_operators(move)
            if failing:
                for operator in failing:
                    self.log.append({"do": "fail", "task": operator.task.name})
                    self.fail(operator)
                failed = True
                continue
            if move is None:
                break
            before = self.gce()
            self.step(move)
            self.steps += 1
            if failed or (self.gce() > before and self.random.random() < OBSERVATION_ODDS):
                self.observe()
                failed = False
        self.finish()
        self.observe()
        end: End = "completed" if self.gce() >= self.case.epochs else "stalled"
        return Observations(
            digest(self.case),
            tuple(self.shown),
            EngineInfo("mutant", "1", {"mutant": type(self).__name__}),
            self.epochs_by,
            self.atomic,
            self.snapshots,
            tuple(self.fired),
            end,
            log=tuple(self.log),
        )

    def finish(self) -> None:
        """Act at the end of the input; the unbroken machine does nothing."""

    def observe(self) -> None:
        """Add an observation."""
        self.log.append({"do": "look"})
        out = self.out()
        self.shown.append(Observation({stream: out[stream] for stream in out if stream in self.request.streams}))

    # The case's failures, as in the model.

    def failing_operators(self, move: tuple[str, str] | None) -> list[MachineOperator]:
        """Give the tasks that fail just before this step."""
        epoch = self.gce()
        just_committed = epoch if epoch > self.last_commit else 0
        self.last_commit = epoch
        if len(self.fired) == len(self.case.failures):
            return []
        failure = self.case.failures[len(self.fired)]
        if not self.is_due(failure, move, just_committed):
            return []
        self.fired.append(Fired(len(self.fired), len(self.shown), f"{failure.kind} in the machine"))
        return [self.tasks[failure.task]] if isinstance(failure, Crash) else list(self.tasks.values())

    def is_due(self, failure: Failure, move: tuple[str, str] | None, just_committed: int) -> bool:
        """Whether a failure happens now."""
        phase = failure.phase if isinstance(failure, Kill) else None
        if isinstance(failure, Restart):
            return self.gce() >= failure.epoch
        if phase == "commit":
            return just_committed == failure.epoch
        if phase == "recovery":
            return any(each.failed and each.epoch >= failure.epoch for each in self.tasks.values())
        if move is None or not move[0]:
            return False
        operator, at_border = self.tasks[move[0]], move[1] == BORDER
        if isinstance(failure, Crash):
            return self.crashes(failure, operator, at_border=at_border)
        return self.in_flight(failure, operator, at_border=at_border)

    def crashes(self, crash: Crash, operator: MachineOperator, *, at_border: bool) -> bool:
        """Whether this task is about to handle the event, or the border, at which it crashes."""
        if crash.task != operator.task.name or operator.epoch != crash.epoch:
            return False
        if crash.event == BORDER:
            return at_border
        handled = sum(operator.position[s] - self.length(s, crash.epoch - 1) for s in operator.task.inputs)
        return handled == crash.event or (at_border and handled < int(crash.event))

    def in_flight(self, failure: Failure, operator: MachineOperator, *, at_border: bool) -> bool:
        """Whether a kill or a partition happens, while its epoch is processed or its snapshot is under way."""
        others = [max(each.archive) for each in self.tasks.values() if each is not operator]
        last_chance = at_border and operator.epoch == failure.epoch and all(e >= failure.epoch for e in others)
        if isinstance(failure, Kill) and failure.phase == "snapshot":
            possible = any(max(each.archive) >= failure.epoch for each in self.tasks.values())
        else:
            possible = operator.epoch == failure.epoch
        in_time = self.gce() < failure.epoch
        return in_time and (last_chance or (possible and self.random.random() < ODDS))


def describe(machine: type[Machine]) -> Description:
    """Describe a machine as an engine."""
    info = EngineInfo("mutant", "1", {"mutant": machine.__name__})
    return Description(info, epochs=machine.epochs_by, atomic=machine.atomic, snapshots=machine.snapshots)
