"""The short cut by sums: programs whose output depends on how many events were taken and on their sum."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from conformance.judge.lattice import Integers, Lattice, Mask
from conformance.judge.ordering import NoOrdering, Ordering, Segment, in_order
from conformance.programs import Average, Batch, Event, P


def by_sum(program: Average | Batch, state: Any, inputs: Sequence[Segment], output: Segment) -> Ordering | NoOrdering:
    """
    Decide for `average` without resets, and for `batch` of integers.

    What they show depends on how many events have been taken and on their sum, and so on the point of the lattice
    alone. An average shows (s + sum) // (c + n) after n events. A batch shows something after each `size`-th event:
    what was gathered since it last did, which is all that was taken (and held before) less all that was shown, mod p.
    """
    assert all(isinstance(each, int) for events in inputs for each in events)  # noqa: S101 - the caller has checked it
    axes = sorted(range(len(inputs)), key=lambda port: len(inputs[port]))
    sums = [np.concatenate([[0], np.cumsum(np.array(inputs[port], dtype=np.int64))]) for port in axes]
    lattice = Lattice([len(inputs[port]) for port in axes])
    held, total = (state[1], state[0]) if isinstance(program, Average) else state
    shown = emitted = 0
    for taken in range(1, sum(lattice.lengths) + 1):
        test: Callable[[Integers], Mask] | None = None
        if isinstance(program, Average) or (held + taken) % program.size == 0:
            value = output[shown] if shown < len(output) else None
            if not isinstance(value, int):
                return NoOrdering(shown, _sums_shown(program, lattice, sums, total, held + taken, emitted))
            test = _shows(program, value, held + taken, emitted)
        if not lattice.advance(_anything, None if test is None else _standing(test, sums, total)):
            return NoOrdering(shown, _sums_shown(program, lattice, sums, total, held + taken, emitted))
        if test is not None:
            emitted = (emitted + int(output[shown])) % P
            shown += 1
    if shown < len(output):
        return NoOrdering(shown)
    everything = total + sum(int(each[-1]) for each in sums)
    end = (everything, held + sum(lattice.lengths))
    if isinstance(program, Batch):
        end = ((held + sum(lattice.lengths)) % program.size, (everything - emitted) % P)
        end = (end[0], end[1] if end[0] else 0)
    order = tuple(axes[axis] for axis in lattice.order(lambda *_: True))
    return Ordering(order, end)


def _anything(_: int, positions: Integers) -> Mask:
    return np.ones_like(positions, dtype=np.bool_)


def _standing(
    test: Callable[[Integers], Mask], sums: Sequence[Integers], total: int
) -> Callable[[list[Integers]], Mask]:
    return lambda coordinates: test(_totals(sums, coordinates, total))


def _totals(sums: Sequence[Integers], coordinates: list[Integers], total: int) -> Integers:
    taken = [row.take(at, mode="clip") for row, at in zip(sums, coordinates, strict=True)]
    return np.asarray(total + sum(taken))


def _shows(program: Average | Batch, value: int, count: int, emitted: int) -> Callable[[Integers], Mask]:
    if isinstance(program, Average):
        return lambda totals: (totals >= value * count) & (totals < (value + 1) * count)
    return lambda totals: (totals - emitted) % P == value


def _sums_shown(
    program: Average | Batch, lattice: Lattice, sums: Sequence[Integers], total: int, count: int, emitted: int
) -> tuple[Event, ...]:
    """List what could have been shown after the next event."""
    if isinstance(program, Batch) and count % program.size:
        return ()
    found: set[int] = set()
    for axis in range(len(sums)):
        coordinates = lattice.coordinates()
        advanced = np.minimum(coordinates[axis] + 1, lattice.lengths[axis])
        possible = lattice.reach & (coordinates[axis] < lattice.lengths[axis])
        coordinates[axis] = advanced
        totals = _totals(sums, coordinates, total)
        values = np.broadcast_to(totals, lattice.reach.shape)[possible]
        found.update(
            int(v) for v in np.unique(values // count if isinstance(program, Average) else (values - emitted) % P)[:8]
        )
    return in_order(found)
