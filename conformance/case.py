"""
Cases: a dataflow graph, its recorded input, and the failures to survive. Frozen, and validated on construction.

The format of a case is specified in docs/reference/cases.md; these classes are the only place that enforces it.
"""

import re
from collections.abc import Collection, Mapping
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from math import isfinite
from typing import Any, ClassVar, Literal, TypeAlias

from attrs import field, frozen
from rpds import HashTrieMap

from conformance.errors import Malformed, inside, quote
from conformance.programs import Event, P, Program, integer

Epochs: TypeAlias = tuple[tuple[Event, ...], ...]
"""The content of one stream: for each epoch its events, in order. The borders between them are implied."""

Phase: TypeAlias = Literal["processing", "snapshot", "commit", "recovery"]

BORDER = "border"
PHASES: tuple[Phase, ...] = ("processing", "snapshot", "commit", "recovery")
TARGETS = ("worker", "coordinator")

LONGEST_NAME = 32
NAME = re.compile(rf"[a-z][a-z0-9_-]{{0,{LONGEST_NAME - 1}}}", re.ASCII)
LONGEST_TEXT = 64
LONGEST_CASE_NAME = 200

MOST_TASKS = 10_000
MOST_EPOCHS = 100_000
MOST_FAILURES = 1_000
"""Bounds far above any sensible case, so that a hostile file is refused instead of eating the machine."""


def _name(value: object) -> None:
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise Malformed(quote(value), f"a name that matches {NAME.pattern}")


def _names(values: object, *, least: int = 0) -> None:
    if not isinstance(values, tuple):
        raise Malformed(quote(values), "a list of names")
    if not least <= len(values) <= MOST_TASKS:
        raise Malformed(f"{len(values)} of them", f"{least} to {MOST_TASKS}")
    seen = set()
    for index, value in enumerate(values):
        with inside(index):
            _name(value)
            if value in seen:
                raise Malformed(f"{value} a second time", "distinct names")
            seen.add(value)


def _one_of(value: object, allowed: Collection[str]) -> None:
    if not isinstance(value, str) or value not in allowed:
        raise Malformed(quote(value), "one of " + ", ".join(allowed))


def _event(value: object) -> None:
    if isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            raise Malformed(f"a string of {len(value)} characters", f"at most {LONGEST_TEXT}")
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise Malformed(f"{quote(value)} with half of a surrogate pair", "Unicode characters")
    elif type(value) is not int or not 0 <= value < P:
        raise Malformed(quote(value), f"an integer from 0 to {P - 1} or a string")


@frozen
class Task:
    """TK<f, [S_i], o>: a program, the streams it reads, the one it writes."""

    name: str
    inputs: tuple[str, ...]
    output: str
    program: Program[Any]

    def __attrs_post_init__(self) -> None:
        with inside("name"):
            _name(self.name)
        with inside("inputs"):
            _names(self.inputs, least=1)
        with inside("output"):
            _name(self.output)
        if not isinstance(self.program, Program):
            raise Malformed(quote(self.program), "a program", path=("program",))


@frozen(slots=False)
class Graph:
    """Tasks and the streams between them: acyclic, one producer for a stream, every source read."""

    sources: tuple[str, ...]
    tasks: tuple[Task, ...]

    def __attrs_post_init__(self) -> None:
        with inside("sources"):
            _names(self.sources, least=1)
        with inside("tasks"):
            self._check_tasks()
        self._check_order()
        read = {stream for task in self.tasks for stream in task.inputs}
        for index, source in enumerate(self.sources):
            if source not in read:
                raise Malformed(f"source {source}, which no task reads", "a reader", path=("sources", index))

    def _check_tasks(self) -> None:
        if not isinstance(self.tasks, tuple) or not all(isinstance(task, Task) for task in self.tasks):
            raise Malformed(quote(self.tasks), "a list of tasks")
        if not 1 <= len(self.tasks) <= MOST_TASKS:
            raise Malformed(f"{len(self.tasks)} of them", f"1 to {MOST_TASKS}")
        names: set[str] = set()
        producers = dict.fromkeys(self.sources, "the input")
        for index, task in enumerate(self.tasks):
            if task.name in names:
                raise Malformed(f"{task.name} a second time", "distinct names", path=(index, "name"))
            if task.output in producers:
                raise Malformed(
                    f"{task.output}, which {producers[task.output]} already produces",
                    "a stream of its own",
                    path=(index, "output"),
                )
            names.add(task.name)
            producers[task.output] = f"task {task.name}"
        for index, task in enumerate(self.tasks):
            for place, stream in enumerate(task.inputs):
                if stream not in producers:
                    raise Malformed(
                        f"{stream}, which nothing produces",
                        "a source or a task's output",
                        path=(index, "inputs", place),
                    )

    def _check_order(self) -> None:
        try:
            self.in_order  # noqa: B018 - sorting is the check
        except CycleError as error:
            cycle = " -> ".join(reversed(error.args[1][:8]))
            raise Malformed(f"a cycle ({cycle})", "an acyclic graph", path=("tasks",)) from None

    @cached_property
    def in_order(self) -> tuple[Task, ...]:
        """The tasks, producers before consumers."""
        producer = {task.output: task for task in self.tasks}
        sorter: TopologicalSorter[str] = TopologicalSorter()
        for task in self.tasks:
            sorter.add(task.name, *(producer[stream].name for stream in task.inputs if stream in producer))
        by_name = {task.name: task for task in self.tasks}
        return tuple(by_name[name] for name in sorter.static_order())

    @property
    def streams(self) -> tuple[str, ...]:
        """Every stream: the sources, then the tasks' outputs, in the order of the case."""
        return self.sources + tuple(task.output for task in self.tasks)

    @property
    def sinks(self) -> tuple[str, ...]:
        """The streams that no task reads."""
        read = {stream for task in self.tasks for stream in task.inputs}
        return tuple(task.output for task in self.tasks if task.output not in read)


@frozen
class Crash:
    """The task dies when about to handle that event of that epoch, or, with "border", its border."""

    kind: ClassVar[str] = "crash"
    task: str
    epoch: int
    event: int | str

    def __attrs_post_init__(self) -> None:
        if self.event != BORDER and (type(self.event) is not int or self.event < 0):
            raise Malformed(quote(self.event), 'an index from 0, or "border"', path=("event",))


@frozen
class Kill:
    """SIGKILL of a worker or of the coordinator while that epoch is in flight."""

    kind: ClassVar[str] = "kill"
    target: str
    epoch: int
    phase: Phase | None = None

    def __attrs_post_init__(self) -> None:
        with inside("target"):
            _one_of(self.target, TARGETS)
        if self.phase is not None:
            with inside("phase"):
                _one_of(self.phase, PHASES)

    @property
    def effective_phase(self) -> Phase:
        """The phase in which it happens: that of the case file, or else processing."""
        return self.phase or "processing"


@frozen
class Restart:
    """Orderly stop after that epoch commits, then start again from what is durable."""

    kind: ClassVar[str] = "restart"
    epoch: int


@frozen
class Partition:
    """The worker is cut off the network while that epoch is in flight."""

    kind: ClassVar[str] = "partition"
    target: str
    epoch: int
    seconds: float

    def __attrs_post_init__(self) -> None:
        with inside("target"):
            _one_of(self.target, ("worker",))
        number = type(self.seconds) in {int, float} and abs(self.seconds) < P and isfinite(self.seconds)
        if not number or self.seconds <= 0:
            raise Malformed(quote(self.seconds), "a positive number of seconds", path=("seconds",))


Failure: TypeAlias = Crash | Kill | Restart | Partition

FAILURES: dict[str, type[Failure]] = {failure.kind: failure for failure in (Crash, Kill, Restart, Partition)}
"""Every kind of failure by the name it has in a case file."""


@frozen
class Hold:
    """Delay a task: it handles its part of the epoch after all tasks that can go on without it."""

    task: str
    epoch: int


def _frozen_inputs(inputs: Any) -> Any:
    return HashTrieMap(inputs) if isinstance(inputs, Mapping) else inputs


@frozen
class Case:
    """
    A dataflow graph, its recorded input, the failures to inject and the holds.

    The name is for people. A case is identified by the digest of all its other fields (`codec.digest`).
    """

    graph: Graph
    inputs: Mapping[str, Epochs] = field(converter=_frozen_inputs)
    failures: tuple[Failure, ...] = ()
    holds: tuple[Hold, ...] = ()
    name: str = field(default="unnamed", eq=False)

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.name, str) or not 1 <= len(self.name) <= LONGEST_CASE_NAME:
            raise Malformed(quote(self.name), f"a string of 1 to {LONGEST_CASE_NAME} characters", path=("name",))
        if not isinstance(self.graph, Graph):
            raise Malformed(quote(self.graph), "a graph", path=("graph",))
        with inside("inputs"):
            self._check_inputs()
        if not isinstance(self.failures, tuple) or len(self.failures) > MOST_FAILURES:
            raise Malformed(quote(self.failures), f"a list of at most {MOST_FAILURES} failures", path=("failures",))
        for index, failure in enumerate(self.failures):
            with inside("failures", index):
                self._check_place(failure, isinstance(failure, Crash))
        if not isinstance(self.holds, tuple):
            raise Malformed(quote(self.holds), "a list of holds", path=("holds",))
        for index, hold in enumerate(self.holds):
            with inside("holds", index):
                self._check_place(hold, has_task=True)

    @property
    def epochs(self) -> int:
        """E: how many epochs every source has."""
        return len(self.inputs[self.graph.sources[0]])

    def _check_inputs(self) -> None:
        if not isinstance(self.inputs, Mapping):
            raise Malformed(quote(self.inputs), "an object with the epochs of every source")
        if strangers := [stream for stream in self.inputs if stream not in self.graph.sources]:
            raise Malformed(f"input for {quote(min(map(str, strangers)))}", "input for sources only")
        first = None
        for source in self.graph.sources:
            if source not in self.inputs:
                raise Malformed(f"no input for {source}", "a list of epochs for every source")
            with inside(source):
                epochs = self.inputs[source]
                check_epochs(epochs)
                if first is None:
                    first = len(epochs)
                elif len(epochs) != first:
                    raise Malformed(f"{len(epochs)} epochs", f"{first}, as for {self.graph.sources[0]}")

    def _check_place(self, placed: Failure | Hold, has_task: bool) -> None:  # noqa: FBT001
        if not isinstance(placed, Failure | Hold):
            raise Malformed(quote(placed), "a failure or a hold")
        if has_task:
            with inside("task"):
                _one_of(placed.task, [task.name for task in self.graph.tasks])  # type: ignore[union-attr]
        with inside("epoch"):
            integer(placed.epoch, least=1, most=self.epochs)


def check_epochs(epochs: object, *, least: int = 1) -> None:
    """Refuse a value that is not a list of epochs of events."""
    if not isinstance(epochs, tuple) or not least <= len(epochs) <= MOST_EPOCHS:
        raise Malformed(quote(epochs), f"a list of {least} to {MOST_EPOCHS} epochs")
    for number, events in enumerate(epochs):
        if not isinstance(events, tuple):
            raise Malformed(quote(events), "a list of events", path=(number,))
        for index, event in enumerate(events):
            try:
                _event(event)
            except Malformed as refused:
                refused.path = (number, index, *refused.path)
                raise
