"""
The ten programs: what a task computes, as data.

A program is a pure, total function f(v, w) = v', [W'_i] with an initial state. States are immutable and hashable, so
that a snapshot is a reference and configurations can be compared; sets and maps are persistent tries, so that a
step costs the same however much the task has seen.
"""

from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from attrs import field, frozen
from rpds import HashTrieMap, HashTrieSet

from conformance.errors import Malformed, inside, quote

Event: TypeAlias = int | str
Outputs: TypeAlias = tuple[Event, ...]

P = 2147483647
"""The prime that integers are reduced by: the largest below 2**31, so that a product of two stays below 2**62."""

LARGEST = 2**53 - 1
"""The largest integer that every JSON reader keeps exactly."""

RESET = "reset"

S = TypeVar("S")


def integer(value: object, *, least: int, most: int) -> int:
    """Accept exactly an integer from `least` to `most` (a boolean is not one)."""
    if type(value) is not int or not least <= value <= most:
        raise Malformed(quote(value), f"an integer from {least} to {most}")
    return value


def _within(least: int, most: int) -> Any:
    """Make an attrs field that holds an integer from `least` to `most`."""

    def check(_: object, attribute: Any, value: object) -> None:
        with inside(attribute.name):
            integer(value, least=least, most=most)

    return field(validator=check)


@frozen
class Program(Generic[S]):
    """What all programs share: integers are computed with, strings pass through and leave the state alone."""

    op: ClassVar[str]
    initial: ClassVar[Any] = None

    def __call__(self, state: S, event: Event) -> tuple[S, Outputs]:
        """Compute f(v, w): the next state and what is emitted."""
        if isinstance(event, str):
            return self.on_string(state, event)
        return self.on_integer(state, event)

    def on_integer(self, state: S, w: int) -> tuple[S, Outputs]:
        """Compute f for an integer event, which is the program proper."""
        raise NotImplementedError

    def on_string(self, state: S, event: str) -> tuple[S, Outputs]:
        """Compute f for a string event, which passes through unless the program says otherwise."""
        return state, (event,)


@frozen
class Map(Program[None]):
    """Emit (w * mul + add) mod p."""

    op = "map"
    mul: int = _within(0, 2**20)
    add: int = _within(0, 2**20)

    def on_integer(self, state: None, w: int) -> tuple[None, Outputs]:
        return state, ((w * self.mul + self.add) % P,)


@frozen
class Filter(Program[None]):
    """Emit w if w mod `mod` is `keep`."""

    op = "filter"
    mod: int = _within(1, LARGEST)
    keep: int = _within(0, LARGEST)

    def __attrs_post_init__(self) -> None:
        if self.keep >= self.mod:
            raise Malformed(quote(self.keep), f"an integer below mod, which is {self.mod}", path=("keep",))

    def on_integer(self, state: None, w: int) -> tuple[None, Outputs]:
        return state, ((w,) if w % self.mod == self.keep else ())


@frozen
class Repeat(Program[None]):
    """Emit w, `times` times."""

    op = "repeat"
    times: int = _within(0, 8)

    def on_integer(self, state: None, w: int) -> tuple[None, Outputs]:
        return state, (w,) * self.times


@frozen
class Sum(Program[int]):
    """Add up, mod p; emit the sum so far."""

    op = "sum"
    initial = 0

    def on_integer(self, state: int, w: int) -> tuple[int, Outputs]:
        total = (state + w) % P
        return total, (total,)


@frozen
class Count(Program[int]):
    """Count events; emit the count."""

    op = "count"
    initial = 0

    def on_integer(self, state: int, w: int) -> tuple[int, Outputs]:  # noqa: ARG002 - every integer counts alike
        return state + 1, (state + 1,)


@frozen
class Digest(Program[int]):
    """A rolling hash of all that was seen: sensitive to any loss, duplicate or reordering."""

    op = "digest"
    initial = 7

    def on_integer(self, state: int, w: int) -> tuple[int, Outputs]:
        h = (state * 31 + w + 1) % P
        return h, (h,)


@frozen
class Distinct(Program["HashTrieSet[int]"]):
    """Emit w the first time it is seen."""

    op = "distinct"
    initial = HashTrieSet()

    def on_integer(self, state: "HashTrieSet[int]", w: int) -> tuple["HashTrieSet[int]", Outputs]:
        return (state, ()) if w in state else (state.insert(w), (w,))


@frozen
class Batch(Program[tuple[int, int]]):
    """
    Gather `size` events, emit their sum mod p, start again.

    The state is how many are buffered and their sum mod p: all that the rest of the run can depend on.
    """

    op = "batch"
    initial = (0, 0)
    size: int = _within(1, LARGEST)

    def on_integer(self, state: tuple[int, int], w: int) -> tuple[tuple[int, int], Outputs]:
        held, total = state[0] + 1, (state[1] + w) % P
        return ((0, 0), (total,)) if held == self.size else ((held, total), ())


@frozen
class Average(Program[tuple[int, int]]):
    """The paper's example: the average so far, rounded down; "reset" starts it again and emits nothing."""

    op = "average"
    initial = (0, 0)

    def on_integer(self, state: tuple[int, int], w: int) -> tuple[tuple[int, int], Outputs]:
        total, count = state[0] + w, state[1] + 1
        return (total, count), (total // count,)

    def on_string(self, state: tuple[int, int], event: str) -> tuple[tuple[int, int], Outputs]:
        return ((0, 0), ()) if event == RESET else (state, (event,))


@frozen
class KeyedSum(Program["HashTrieMap[int, int]"]):
    """A sum mod p for each key w mod `keys`; emit that key's sum."""

    op = "keyed_sum"
    initial = HashTrieMap()
    keys: int = _within(1, LARGEST)

    def on_integer(self, state: "HashTrieMap[int, int]", w: int) -> tuple["HashTrieMap[int, int]", Outputs]:
        key = w % self.keys
        total = (state.get(key, 0) + w) % P
        return state.insert(key, total), (total,)


PROGRAMS: dict[str, type[Program[Any]]] = {
    program.op: program for program in (Map, Filter, Repeat, Sum, Count, Digest, Distinct, Batch, Average, KeyedSum)
}
"""Every program by the name it has in a case file, in the order of the documentation."""
