"""How long the judge searches before it says that it does not know."""

from time import monotonic
from typing import Self

from attrs import define, field

from conformance.errors import OutOfBudget

CLOCK_INTERVAL = 1024
"""The number of steps between two readings of the clock."""


UNLIMITED = 10**12
"""More steps than a search takes in a lifetime."""


@define
class Budget:
    """Steps and seconds. Running out is never a verdict on the engine."""

    steps: int = 2_000_000
    seconds: float | None = None
    _started: float = field(factory=monotonic, init=False)
    _spent: int = field(default=0, init=False)

    @classmethod
    def of_seconds(cls, seconds: float) -> Self:
        """Make a budget that is limited by time alone."""
        return cls(steps=UNLIMITED, seconds=seconds)

    def spend(self, steps: int = 1) -> None:
        """Count work that was done; raise `OutOfBudget` once there was too much of it."""
        before = self._spent // CLOCK_INTERVAL
        self._spent += steps
        if self._spent > self.steps:
            raise OutOfBudget(f"the search was given {self.steps:,} steps, and they are used up")
        is_due = self.seconds is not None and before != self._spent // CLOCK_INTERVAL
        if is_due and monotonic() - self._started > (self.seconds or 0):
            raise OutOfBudget(f"the search was given {self.seconds:g} seconds, and they are over")
