"""
Interleavings of several sequences, all at once.

To take n events from k inputs in some order is to walk n steps through a lattice, from the origin to the corner. Which
points can be reached after n steps is a set of points on a hyperplane, kept here as a boolean array over the first
k - 1 coordinates (the last one is n minus the others), cut to the window in which anything is reachable. A step forward
is a few array operations, however many interleavings there are: where orders cannot be told apart the window is wide
and numpy does the work, where they can it is one point wide.

Soundness: `reach` after n steps is exactly the set of points x, with coordinates summing to n, for which some order of
the first x_m events of each input passed every test so far. By induction: `advance` takes exactly the steps that its
test allows from exactly the reachable points. What a test may ask must depend on the point and on n only; each caller
argues that for its program.
"""

from collections.abc import Callable, Sequence
from copy import copy
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Mask: TypeAlias = NDArray[np.bool_]
Integers: TypeAlias = NDArray[np.int64]

History: TypeAlias = "tuple[tuple[int, ...], Mask, History] | None"
"""The windows before each step, the last one first; shared by walks that have forked."""

CAPACITY = 50_000_000
WINDOW = 2_000_000
MOST_INPUTS = 24
"""How many points a walk may hold in all, a byte each, and at one step; and how many inputs it takes."""


class TooWide(Exception):
    """More points than fit: the caller must decide by other means, or give up."""


class Lattice:
    """The points reachable after `steps` steps, and how they were reached."""

    def __init__(self, lengths: Sequence[int]) -> None:
        if len(lengths) > MOST_INPUTS:
            raise TooWide
        self.lengths = tuple(lengths)
        self.steps = 0
        self.low = (0,) * (len(lengths) - 1)
        self.reach: Mask = np.ones((1,) * (len(lengths) - 1), dtype=np.bool_)
        self.history: History = None
        self._held = 0
        self._shapes = [[-1 if axis == other else 1 for other in range(len(self.low))] for axis in range(len(self.low))]

    def coordinates(self) -> list[Integers]:
        """
        Return the coordinates of the window's points, each shaped to be used against `reach`.

        Points outside the lattice are in the window too, unreachable: look events up with `take(..., mode="clip")`.
        """
        free = [
            np.arange(low, low + size).reshape(shape)
            for low, size, shape in zip(self.low, self.reach.shape, self._shapes, strict=True)
        ]
        return [*free, np.asarray(self.steps - sum(free))]

    def advance(
        self, may_take: Callable[[int, Integers], Mask], may_stand: Callable[[list[Integers]], Mask] | None = None
    ) -> bool:
        """
        Take one step, in every way there is; False if no point is reachable by it, and then nothing has changed.

        A step leads from every reachable point along every input whose next event `may_take` allows (given its axis and
        the positions along it), to those points that `may_stand` allows.
        """
        before = (self.low, self.reach)
        coordinates = self.coordinates()
        shape = tuple(
            min(size + 1, length - low + 1)
            for size, length, low in zip(self.reach.shape, self.lengths, self.low, strict=False)
        )
        if prod(shape) > WINDOW:
            raise TooWide
        after: Mask = np.zeros(shape, dtype=np.bool_)
        for axis, positions in enumerate(coordinates):
            allowed = self.reach & (positions < self.lengths[axis]) & may_take(axis, positions)
            # Along its own axis a step moves by one; what would leave the lattice was not allowed.
            along = [int(other == axis) for other in range(len(shape))]
            moved = after[tuple(slice(one, size + one) for one, size in zip(along, self.reach.shape, strict=True))]
            moved |= allowed[tuple(slice(size) for size in moved.shape)]
        self.reach = after
        self.steps += 1
        if may_stand is not None:
            self.reach = self.reach & may_stand(self.coordinates())
        if not self.reach.any():
            self.low, self.reach = before
            self.steps -= 1
            return False
        self.history = (*before, self.history)
        self._held += before[1].size
        if self._held > CAPACITY:
            raise TooWide
        self._trim()
        return True

    def _trim(self) -> None:
        window = []
        for axis in range(self.reach.ndim):
            others = tuple(other for other in range(self.reach.ndim) if other != axis)
            occupied = np.flatnonzero(self.reach.any(axis=others))
            window.append(slice(int(occupied[0]), int(occupied[-1]) + 1))
        self.low = tuple(low + each.start for low, each in zip(self.low, window, strict=True))
        self.reach = self.reach[tuple(window)]

    def fork(self) -> "Lattice":
        """Copy the lattice, for a walk that goes on differently."""
        return copy(self)

    def at_the_end(self) -> bool:
        """Whether every event has been taken."""
        return self.steps == sum(self.lengths)

    def order(self, may_take: Callable[[int, int, int], bool]) -> list[int]:
        """
        Find one order that leads to the corner: the axis taken at each step.

        `may_take` says of a step, a axis and a position what the test of that step said.
        """
        point = list(self.lengths)
        taken = []
        history = self.history
        for step in range(self.steps - 1, -1, -1):
            assert history is not None  # noqa: S101 - one entry a step
            low, reach, history = history
            for axis in range(len(point)):
                point[axis] -= 1
                index = tuple(x - start for x, start in zip(point[:-1], low, strict=True))
                inside = all(0 <= x < size for x, size in zip(index, reach.shape, strict=True))
                if point[axis] >= 0 and inside and reach[index] and may_take(step, axis, point[axis]):
                    taken.append(axis)
                    break
                point[axis] += 1
            else:
                raise AssertionError("a reachable point that nothing leads to")
        taken.reverse()
        return taken
