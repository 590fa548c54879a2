"""
The failure-free execution that comes closest to what was seen, where none explains it.

Closest is: the fewest events to put in, take out or change, summed over the streams that were observed. Tasks are
taken in topological order, each with the inputs that the tasks before it have given it; where a task has several
inputs, a beam of interleavings is followed, by the edit distance so far. So it is the closest that was found, and there
may be a closer one.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from conformance.case import Case, Epochs, Task
from conformance.judge.explain import Orders
from conformance.judge.judge import case_as_run
from conformance.judge.witness import trace_of
from conformance.model.configuration import Trace
from conformance.observation import Observations
from conformance.programs import Event

WIDTH = 24
"""How many interleavings are followed at once."""

MOST = 4_000
"""Events above which nobody would read it."""


@frozen
class Closest:
    """The execution, of which case it is one, and by how many events it differs from what was seen."""

    case: Case
    trace: Trace
    shows: Mapping[str, Epochs]
    distance: int


@frozen
class _Way:
    """A task on its way: its state, what it took and wrote, and how far that is from what was seen."""

    state: Any
    taken: tuple[int, ...]
    order: tuple[int, ...] = ()
    written: tuple[Event, ...] = ()
    row: tuple[int, ...] = (0,)
    """The edit distances between what was written in this epoch and each beginning of what was seen of it."""
    orders: tuple[tuple[int, ...], ...] = ()
    epochs: tuple[tuple[Event, ...], ...] = ()
    cost: int = 0
    """Of the epochs before this one."""

    @property
    def rank(self) -> tuple[int, int]:
        return self.cost + min(self.row), self.cost + self.row[-1]


def closest(case: Case, seen: Observations) -> Closest | None:
    """The closest to the last observation; None where there is too much to look at."""
    if sum(len(events) for epochs in case.inputs.values() for events in epochs) > MOST:
        return None
    last = seen.observations[-1].streams if seen.observations else {}
    plain = case_as_run(case, seen)
    shows: dict[str, Epochs] = dict(plain.inputs)
    orders: Orders = {}
    distance = 0
    for task in plain.graph.in_order:
        way = _closest(task, [shows[stream] for stream in task.inputs], last.get(task.output), plain.epochs)
        shows[task.output], orders[task.name] = way.epochs, way.orders
        distance += way.cost
        if sum(map(len, way.epochs)) > MOST:
            return None
    return Closest(plain, trace_of(plain.graph, orders, plain.epochs), shows, distance)


def _closest(task: Task, inputs: Sequence[Epochs], target: Epochs | None, epochs: int) -> _Way:
    beam = [_Way(task.program.initial, (0,) * len(inputs))]
    for number in range(epochs):
        segments = [epochs_of[number] for epochs_of in inputs]
        wanted = target[number] if target is not None and number < len(target) else () if target is not None else None
        row = tuple(range(len(wanted) + 1)) if wanted is not None else (0,)
        beam = [evolve(way, taken=(0,) * len(inputs), order=(), written=(), row=row) for way in beam]
        for _ in range(sum(map(len, segments))):
            beam = _narrowed([further for way in beam for further in _further(task, segments, wanted, way)])
        beam = _narrowed(
            [
                evolve(
                    way,
                    orders=(*way.orders, way.order),
                    epochs=(*way.epochs, way.written),
                    cost=way.cost + way.row[-1],
                    row=(0,),
                )
                for way in beam
            ]
        )
    return min(beam, key=lambda way: way.cost)


def _narrowed(beam: list[_Way]) -> list[_Way]:
    """The best of them, one for each that the rest could depend on."""
    found: dict[Any, _Way] = {}
    for way in sorted(beam, key=lambda way: way.rank):
        found.setdefault((way.taken, way.state, way.row, way.cost), way)
        if len(found) == WIDTH:
            break
    return list(found.values())


def _further(
    task: Task, segments: Sequence[tuple[Event, ...]], wanted: tuple[Event, ...] | None, way: _Way
) -> list[_Way]:
    """One event further, by any input; where nobody saw what comes of it, by the first."""
    ways = []
    for which, events in enumerate(segments):
        if way.taken[which] == len(events):
            continue
        state, outputs = task.program(way.state, events[way.taken[which]])
        row = way.row
        for output in outputs if wanted is not None else ():
            row = _next_row(row, wanted or (), output)
        taken = (*way.taken[:which], way.taken[which] + 1, *way.taken[which + 1 :])
        further = evolve(
            way, state=state, taken=taken, order=(*way.order, which), written=(*way.written, *outputs), row=row
        )
        ways.append(further)
        if wanted is None:
            break
    return ways


def _next_row(row: tuple[int, ...], wanted: tuple[Event, ...], output: Event) -> tuple[int, ...]:
    """One more row of Levenshtein's table."""
    following = [row[0] + 1]
    for place, event in enumerate(wanted):
        change = row[place] + (event != output or type(event) is not type(output))
        following.append(min(change, row[place + 1] + 1, following[place] + 1))
    return tuple(following)
