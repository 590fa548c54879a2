"""
The model once more, as a machine that can be broken.

The reference model is made of pure functions that refuse what is not well formed; a broken engine is anything but. This
machine does the same with lists and dictionaries that are changed in place, and in small methods, each of which a
mutant can get wrong. Unbroken, it conforms: `correct.Plain` is this machine and is never accused.
"""

from collections.abc import Sequence
from random import Random
from typing import Any

from conformance.case import Case, Crash, Epochs, Failure, Kill, Restart, Task
from conformance.codec import digest
from conformance.engine import Description, RunRequest
from conformance.observation import End, EngineInfo, EpochsBy, Fired, Observation, Observations, Snapshots
from conformance.programs import Event

BD = None
BORDER = "border"
LOOKS = 0.5
ODDS = 0.3
PATIENCE = 4_000
"""Steps after which a run has stalled."""


class Operator:
    """One task: its durable snapshots, and what it loses in a failure."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.archive: dict[int, Any] = {0: task.program.initial}
        self.epoch = 1
        self.value = task.program.initial
        self.failed = False
        self.at = dict.fromkeys(task.inputs, 0)


class Machine:
    """Asynchronous barrier snapshotting. Every method is a place where an engine can go wrong."""

    epochs_by: EpochsBy = "given"
    atomic = True
    snapshots: Snapshots = "aligned"

    def __init__(self, request: RunRequest) -> None:
        self.case: Case = request.case
        self.request = request
        self.random = Random(f"{request.seed}/{digest(request.case)}")
        self.tasks = {task.name: Operator(task) for task in request.case.graph.in_order}
        self.streams: dict[str, list[tuple[int, Event | None]]] = {stream: [] for stream in request.case.graph.streams}
        for source, epochs in request.case.inputs.items():
            for number, events in enumerate(epochs, start=1):
                self.streams[source] += [(number, event) for event in events] + [(number, BD)]
        self.steps = 0
        self.recoveries = 0
        self.fired = 0
        self.last_commit = 0
        self.shown: list[Observation] = []
        self.noted: list[Fired] = []
        self.log: list[dict[str, Any]] = []
        self.sending: list[list[Any]] = []
        self.setup()

    def setup(self) -> None:
        """What a mutant remembers besides."""

    # What a task does.

    def head(self, operator: Operator, stream: str) -> tuple[int, Event | None] | None:
        """The next message of an input, if it is there."""
        at, log = operator.at[stream], self.streams[stream]
        return log[at] if at < len(log) else None

    def takes(self, operator: Operator, stream: str) -> bool:
        """Whether an event can be taken from this input now: one of the task's own epoch."""
        head = self.head(operator, stream)
        return head is not None and head[1] is not BD and head[0] == operator.epoch

    def aligned(self, operator: Operator) -> bool:
        """Whether every input is at its border."""
        heads = [self.head(operator, stream) for stream in operator.task.inputs]
        return all(head is not None and head[1] is BD and head[0] == operator.epoch for head in heads)

    def take(self, operator: Operator, stream: str) -> None:
        """I-Event."""
        self.head(operator, stream)  # It may have to skip something to get there.
        at = operator.at[stream]
        operator.at[stream] += 1
        self.handle(operator, stream, at)

    def handle(self, operator: Operator, stream: str, at: int) -> None:
        """Compute with the event that stands there, and send what comes of it."""
        _, event = self.streams[stream][at]
        if event is not None:
            self.note("event", operator, stream=stream, seq=at, value=event)
            operator.value, outputs = self.compute(operator, event)
            for output in outputs:
                self.emit(operator, (operator.epoch, output))

    def compute(self, operator: Operator, event: Event) -> tuple[Any, Sequence[Event]]:
        """f(v, w)."""
        result: tuple[Any, Sequence[Event]] = operator.task.program(operator.value, event)
        return result

    def emit(self, operator: Operator, message: tuple[int, Event | None]) -> None:
        """Append to the task's output."""
        stream = self.streams[operator.task.output]
        self.sending.append([len(stream), message[1]])
        stream.append(message)

    def pass_border(self, operator: Operator) -> None:
        """I-Border."""
        for stream in operator.task.inputs:
            operator.at[stream] += 1
        self.snapshot(operator)
        self.emit(operator, (operator.epoch, BD))
        operator.epoch += 1

    def snapshot(self, operator: Operator) -> None:
        """Archive the state of the epoch that ends."""
        operator.archive[operator.epoch] = operator.value

    def note(self, do: str, operator: Operator, **what: Any) -> None:
        """What a task does, for the log; what it sends from here on belongs to it."""
        self.sending = []
        self.log.append({"do": do, "task": operator.task.name, "epoch": operator.epoch, **what, "sends": self.sending})

    # What is durable, and what is seen.

    def gce(self) -> int:
        """The greatest common epoch."""
        return min(max(operator.archive) for operator in self.tasks.values())

    def out(self) -> dict[str, Epochs]:
        """What an observer is shown."""
        return {stream: self.visible(stream, self.gce()) for stream in self.streams}

    def visible(self, stream: str, epoch: int) -> Epochs:
        """A stream's events up to an epoch."""
        shown: list[list[Event]] = [[] for _ in range(epoch)]
        for e, event in self.streams[stream]:
            if event is not BD and e <= epoch:
                shown[e - 1].append(event)
        return tuple(map(tuple, shown))

    # Failure and recovery.

    def fail(self, operator: Operator) -> None:
        """F-Fail."""
        operator.failed = True

    def recover(self) -> None:
        """F-Recover: everything back to the latest common snapshot."""
        epoch = self.recovery_point()
        for stream in self.streams:
            self.restore_stream(stream, epoch)
        for operator in self.tasks.values():
            self.restore(operator, epoch)
        self.recoveries += 1

    def recovery_point(self) -> int:
        """The epoch to go back to."""
        return self.gce()

    def restore_stream(self, stream: str, epoch: int) -> None:
        """Forget the messages of later epochs; a source keeps them, to be read again."""
        if stream not in self.case.inputs:
            self.streams[stream] = [message for message in self.streams[stream] if message[0] <= epoch]

    def restore(self, operator: Operator, epoch: int) -> None:
        """Put a task back to its snapshot of an epoch."""
        operator.archive = {e: value for e, value in operator.archive.items() if e <= epoch}
        self.restore_state(operator, epoch)
        self.restore_inputs(operator, epoch)
        operator.failed = False

    def restore_state(self, operator: Operator, epoch: int) -> None:
        """Its value and epoch."""
        operator.value = operator.archive[epoch]
        operator.epoch = epoch + 1

    def restore_inputs(self, operator: Operator, epoch: int) -> None:
        """Where it reads on."""
        for stream in operator.task.inputs:
            operator.at[stream] = self.length(stream, epoch)

    def length(self, stream: str, epoch: int) -> int:
        """How many messages of a stream belong to epochs up to this one."""
        return sum(e <= epoch for e, _ in self.streams[stream])

    # The run: who goes next, and what strikes.

    def moves(self) -> list[tuple[str, str]]:
        """Every step that could be taken: a task, and an input or the border; or a recovery, for no task."""
        found = []
        for name, operator in self.tasks.items():
            if operator.failed:
                continue
            found += [(name, stream) for stream in operator.task.inputs if self.takes(operator, stream)]
            if self.aligned(operator):
                found.append((name, BORDER))
        if any(operator.failed for operator in self.tasks.values()):
            found.append(("", "recover"))
        return found

    def choose(self, moves: list[tuple[str, str]]) -> tuple[str, str]:
        """The next step: any, but held tasks go last."""
        held = {(hold.task, hold.epoch) for hold in self.case.holds}
        free = [move for move in moves if not move[0] or (move[0], self.tasks[move[0]].epoch) not in held]
        return self.random.choice(free or moves)

    def step(self, move: tuple[str, str]) -> None:
        """Take it."""
        name, what = move
        if not name:
            self.recover()
            self.log.append({"do": "recover", "epoch": self.gce()})
        elif what == BORDER:
            self.note(BORDER, self.tasks[name])
            self.pass_border(self.tasks[name])
        else:
            self.take(self.tasks[name], what)

    def run(self) -> Observations:
        """The whole run, looked at now and then, after every failure and at the end."""
        self.look()
        failed = False
        while self.steps < PATIENCE:
            moves = self.moves()
            move = self.choose(moves) if moves else None
            struck = self.strikes(move)
            if struck:
                for operator in struck:
                    self.log.append({"do": "fail", "task": operator.task.name})
                    self.fail(operator)
                failed = True
                continue
            if move is None:
                break
            before = self.gce()
            self.step(move)
            self.steps += 1
            if failed or (self.gce() > before and self.random.random() < LOOKS):
                self.look()
                failed = False
        self.finish()
        self.look()
        end: End = "completed" if self.gce() >= self.case.epochs else "stalled"
        return Observations(
            digest(self.case),
            tuple(self.shown),
            EngineInfo("mutant", "1", {"mutant": type(self).__name__}),
            self.epochs_by,
            self.atomic,
            self.snapshots,
            tuple(self.noted),
            end,
            log=tuple(self.log),
        )

    def finish(self) -> None:
        """What an engine does when there is nothing left to do."""

    def look(self) -> None:
        """Let the observer look."""
        self.log.append({"do": "look"})
        out = self.out()
        self.shown.append(Observation({stream: out[stream] for stream in out if stream in self.request.streams}))

    # The case's failures, as in the model.

    def strikes(self, move: tuple[str, str] | None) -> list[Operator]:
        """The tasks that fail just before this step."""
        epoch = self.gce()
        just_committed = epoch if epoch > self.last_commit else 0
        self.last_commit = epoch
        if self.fired == len(self.case.failures):
            return []
        failure = self.case.failures[self.fired]
        if not self.is_due(failure, move, just_committed):
            return []
        self.noted.append(Fired(self.fired, len(self.shown), f"{failure.kind} in the machine"))
        self.fired += 1
        return [self.tasks[failure.task]] if isinstance(failure, Crash) else list(self.tasks.values())

    def is_due(self, failure: Failure, move: tuple[str, str] | None, just_committed: int) -> bool:
        """Whether a failure strikes now."""
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

    def crashes(self, crash: Crash, operator: Operator, *, at_border: bool) -> bool:
        """Whether this task is about to handle the event, or the border, that it dies on."""
        if crash.task != operator.task.name or operator.epoch != crash.epoch:
            return False
        if crash.event == BORDER:
            return at_border
        handled = sum(operator.at[s] - self.length(s, crash.epoch - 1) for s in operator.task.inputs)
        return handled == crash.event or (at_border and handled < int(crash.event))

    def in_flight(self, failure: Failure, operator: Operator, *, at_border: bool) -> bool:
        """Whether a kill or a partition strikes while its epoch is processed, or its snapshot under way."""
        others = [max(each.archive) for each in self.tasks.values() if each is not operator]
        last_chance = at_border and operator.epoch == failure.epoch and all(e >= failure.epoch for e in others)
        if isinstance(failure, Kill) and failure.phase == "snapshot":
            possible = any(max(each.archive) >= failure.epoch for each in self.tasks.values())
        else:
            possible = operator.epoch == failure.epoch
        in_time = self.gce() < failure.epoch
        return in_time and (last_chance or (possible and self.random.random() < ODDS))


def describe(machine: type[Machine]) -> Description:
    """What a machine claims to be."""
    info = EngineInfo("mutant", "1", {"mutant": machine.__name__})
    return Description(info, epochs=machine.epochs_by, atomic=machine.atomic, snapshots=machine.snapshots)
