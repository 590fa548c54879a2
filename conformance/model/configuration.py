"""
Configurations c = <Pi, Sigma, N, M, D>, and the valid initial ones.

Everything here is immutable from the outside. The mappings of a configuration are plain dicts that are not changed
after construction; tuples stand where a step makes many of them.
"""

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from attrs import field, frozen

from conformance.case import Case, Epochs
from conformance.programs import Event, Outputs, Program

T = TypeVar("T")

BD = None
"""The border that closes an epoch."""

Data: TypeAlias = tuple[int, Event | None]
"""d = <e, EV<w>> or <e, BD>: a message's epoch and its event, or BD."""

Message: TypeAlias = tuple[int, str, Data]
"""n s d: message number n on stream s carries d."""

Numbers: TypeAlias = Mapping[str, int]
"""N_p: for every stream p reads or writes, the number at which it goes on."""


class Log(Generic[T]):
    """
    An immutable sequence that appends in constant time.

    Logs share a list and each knows how much of it is its own. Appending to the longest one extends the list, which the
    shorter ones cannot see; appending to a shorter one copies. An execution that goes forward never copies
    except after a recovery, and one that branches pays for the branch.

    `items` and `length` are open for the rules, which read `items[n] if n < length` at every step. All other
    code uses the methods.
    """

    __slots__ = ("_hash", "items", "length")

    _hash: int

    def __init__(self, items: list[T], length: int) -> None:
        self.items = items
        self.length = length

    @classmethod
    def of(cls, *items: T) -> "Log[T]":
        """Make a log of these items."""
        return cls(list(items), len(items))

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> T:
        if not 0 <= index < self.length:
            raise IndexError(index)
        return self.items[index]

    def __iter__(self) -> Iterator[T]:
        return iter(self.items[: self.length])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Log):
            return NotImplemented
        if self.length != other.length:
            return False
        return self.items is other.items or list(self) == list(other)

    def __hash__(self) -> int:
        # Kept, because configurations share most of their logs; not set in advance, because most are never hashed.
        try:
            return self._hash
        except AttributeError:
            self._hash = hash(tuple(self))
            return self._hash

    def __repr__(self) -> str:
        return f"Log({list(self)})"

    def append(self, item: T) -> "Log[T]":
        """Return the log with one more item."""
        items, length = self.items, self.length
        if len(items) != length:
            items = items[:length]
        items.append(item)
        return Log(items, length + 1)

    def first(self, length: int) -> "Log[T]":
        """Return the log's first `length` items."""
        return Log(self.items, min(length, self.length))


Volatile: TypeAlias = tuple[int, Any] | None
"""sigma_V: <e, v>, the epoch a task is in and its value, or None for fl."""

State: TypeAlias = tuple[Log[Any], Volatile]
"""
Sigma_p = <a, sigma_V>. The archive a maps epochs to values; its domain is 0..e without a gap, so it is a log.

A plain tuple: every step makes one, and a class would cost a third of the step.
"""


class Rule(Enum):
    """The rules that can be the root of a step's derivation."""

    EVENT = "event"
    BORDER = "border"
    FAIL = "fail"
    RECOVER = "recover"


@frozen
class Step:
    """
    One step of a trace: <I-Event, p, ...> of one input, <I-Border, p, ...>, <F-Fail, p> or <F-Recover>.

    N_p and X follow from the configuration the step is taken in: see `trace.labels`. F-Recover has no task, and only
    I-Event has a stream.
    """

    rule: Rule
    task: str = ""
    stream: str = ""

    def __str__(self) -> str:
        match self.rule:
            case Rule.EVENT:
                return f"event of {self.stream} at {self.task}"
            case Rule.BORDER:
                return f"border at {self.task}"
            case Rule.FAIL:
                return f"failure of {self.task}"
            case Rule.RECOVER:
                return "recovery"


Trace: TypeAlias = tuple[Step, ...]

RECOVER = Step(Rule.RECOVER)


@frozen
class Processor:
    """Pi_p = TK<f, [S_i], o>, with the steps it may ever take."""

    name: str
    program: Program[Any]
    inputs: tuple[str, ...]
    output: str
    events: tuple[Step, ...]
    border: Step
    fail: Step
    function: Callable[[Any, Event], tuple[Any, Outputs]] = field(eq=False, repr=False)
    """f: the program's call, looked up once."""


@frozen
class Dataflow:
    """Pi and D: what no step changes. Processors are in topological order."""

    processors: Mapping[str, Processor]
    initial: Mapping[str, Log[Data]]
    affected: Mapping[str, tuple[str, ...]]
    """For each task, the tasks whose enabled steps its own step may change: itself and the readers of its output."""
    epochs: int

    @classmethod
    def of(cls, case: Case) -> "Dataflow":
        """Translate the part of a case that the model runs: its graph and its recorded input."""
        processors = {
            task.name: Processor(
                name=task.name,
                program=task.program,
                inputs=task.inputs,
                output=task.output,
                events=tuple(Step(Rule.EVENT, task.name, stream) for stream in task.inputs),
                border=Step(Rule.BORDER, task.name),
                fail=Step(Rule.FAIL, task.name),
                function=task.program.__call__,
            )
            for task in case.graph.in_order
        }
        affected = {
            task.name: (task.name, *(other.name for other in case.graph.in_order if task.output in other.inputs))
            for task in case.graph.in_order
        }
        empty: Epochs = ()
        initial = {stream: Log.of(*_messages(case.inputs.get(stream, empty))) for stream in case.graph.streams}
        return cls(processors, initial, affected, case.epochs)


def _messages(epochs: Epochs) -> Iterator[Data]:
    for number, events in enumerate(epochs, start=1):
        for event in events:
            yield number, event
        yield number, BD


class Configuration(NamedTuple):
    """
    c = <Pi, Sigma, N, M, D>, with Pi and D together as the dataflow.

    M is kept by stream, each a log whose index is the sequence number: what is reachable never has a gap, nor two
    messages of one number on a stream (`wellformed.faults` and its tests), so the set M and these logs say the same.
    `message_set` is the set.
    """

    dataflow: Dataflow
    states: Mapping[str, State]
    numbers: Mapping[str, Numbers]
    messages: Mapping[str, Log[Data]]

    def __hash__(self) -> int:
        numbers = tuple(tuple(each.values()) for each in self.numbers.values())
        return hash((tuple(self.states.values()), numbers, tuple(self.messages.values())))

    @property
    def failed(self) -> tuple[str, ...]:
        """The tasks whose volatile state is fl."""
        return tuple(name for name, (_, volatile) in self.states.items() if volatile is None)

    def message_set(self) -> set[Message]:
        """M, as the paper writes it."""
        return {(n, stream, data) for stream, log in self.messages.items() for n, data in enumerate(log)}


def initial(case: Case) -> Configuration:
    """Build the initial configuration, in K, that a case describes."""
    dataflow = Dataflow.of(case)
    processors = dataflow.processors.values()
    return Configuration(
        dataflow=dataflow,
        states={p.name: (Log.of(p.program.initial), (1, p.program.initial)) for p in processors},
        numbers={p.name: dict.fromkeys((*p.inputs, p.output), 0) for p in processors},
        messages=dataflow.initial,
    )
