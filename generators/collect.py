"""The cases of a seed, numbered: any of them can be drawn again without the others."""

from collections.abc import Callable, Hashable, Iterator
from itertools import count, islice
from random import Random
from typing import Generic, TypeVar

from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy

T = TypeVar("T", bound=Hashable)

ENTROPY = 4096
"""Number of bytes that a value is drawn from; where a strategy wants more, that number has no value."""


class Numbered(Generic[T]):
    """
    The values of a strategy under a seed, by number.

    The same seed and number give the same value on every run, process and machine; only the versions of this package
    and of Hypothesis matter beside them. The bytes that a fuzzer would feed to Hypothesis come from a generator seeded
    with both. Unlike Hypothesis's own generation phase, which begins with small examples and varies those it
    liked, every number is drawn alike, so shares can be measured.
    """

    def __init__(self, strategy: SearchStrategy[T], *, seed: int) -> None:
        self.seed = seed
        self._drawn: list[T] = []

        @settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
        @given(strategy)
        def draw(value: T) -> None:
            self._drawn.append(value)

        self._feed: Callable[[bytes], object] = draw.hypothesis.fuzz_one_input  # type: ignore[attr-defined]

    def entropy(self, number: int) -> bytes:
        """Make the bytes that a number's value is drawn from."""
        return Random(f"{self.seed}/{number}").randbytes(ENTROPY)

    def get(self, number: int) -> T | None:
        """Draw the value of a number; None where the strategy wanted more bytes, or rejected these."""
        self._drawn.clear()
        self._feed(self.entropy(number))
        return self._drawn[0] if self._drawn else None

    def distinct(self) -> Iterator[tuple[int, T]]:
        """Go through numbers and their values, each value once. Endless, if the strategy has endless values."""
        seen = set()
        for number in count():
            value = self.get(number)
            if value is not None and value not in seen:
                seen.add(value)
                yield number, value


def collect(strategy: SearchStrategy[T], *, number: int, seed: int) -> list[T]:
    """List the first `number` different values of a strategy under a seed."""
    return [value for _, value in islice(Numbered(strategy, seed=seed).distinct(), number)]
