"""
The failure-free execution that comes closest to an output that no failure-free execution explains.

The distance is the number of events to insert, delete or change, summed over the observed streams. Tasks are run in
topological order, each with the inputs that the tasks before it produce. Where a task has several inputs, a beam search
follows the interleavings with the smallest edit distance so far. The result is therefore the closest execution found;
there may be a closer one.
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

BEAM_WIDTH = 24
"""Interleavings that are followed at once."""

MAX_EVENTS = 4_000
"""Events above which no execution is searched: its diagram could not be read."""


@frozen
class ClosestExecution:
    """A failure-free execution, its case, the streams it shows, and its distance to the observed output."""

    case: Case
    trace: Trace
    streams: Mapping[str, Epochs]
    distance: int


@frozen
class _PartialRun:
    """A task in the middle of an epoch: its state, what it read and wrote, and the distance to what was observed."""

    state: Any
    positions: tuple[int, ...]
    """How many events of each input have been read in this epoch."""
    order: tuple[int, ...] = ()
    written: tuple[Event, ...] = ()
    row: tuple[int, ...] = (0,)
    """The edit distances between the output written in this epoch and each prefix of the observed one."""
    orders: tuple[tuple[int, ...], ...] = ()
    epochs: tuple[tuple[Event, ...], ...] = ()
    cost: int = 0
    """The distance in the epochs before this one."""

    @property
    def rank(self) -> tuple[int, int]:
        return self.cost + min(self.row), self.cost + self.row[-1]


def find_closest_execution(case: Case, observed: Observations) -> ClosestExecution | None:
    """Find the execution closest to the last observation; None where there are too many events."""
    if sum(len(events) for epochs in case.inputs.values() for events in epochs) > MAX_EVENTS:
        return None
    last = observed.observations[-1].streams if observed.observations else {}
    plain = case_as_run(case, observed)
    streams: dict[str, Epochs] = dict(plain.inputs)
    orders: Orders = {}
    distance = 0
    for task in plain.graph.in_order:
        run = _run_task(task, [streams[stream] for stream in task.inputs], last.get(task.output), plain.epochs)
        streams[task.output], orders[task.name] = run.epochs, run.orders
        distance += run.cost
        if sum(map(len, run.epochs)) > MAX_EVENTS:
            return None
    return ClosestExecution(plain, trace_of(plain.graph, orders, plain.epochs), streams, distance)


def _run_task(task: Task, inputs: Sequence[Epochs], observed: Epochs | None, epochs: int) -> _PartialRun:
    """Search the run of one task through all epochs whose output is closest to the observed one."""
    beam = [_PartialRun(task.program.initial, (0,) * len(inputs))]
    for number in range(epochs):
        segments = [stream[number] for stream in inputs]
        target = None if observed is None else observed[number] if number < len(observed) else ()
        row = tuple(range(len(target) + 1)) if target is not None else (0,)
        beam = [evolve(run, positions=(0,) * len(inputs), order=(), written=(), row=row) for run in beam]
        for _ in range(sum(map(len, segments))):
            beam = _prune([extended for run in beam for extended in _extend(task, segments, target, run)])
        beam = _prune(
            [
                evolve(
                    run,
                    orders=(*run.orders, run.order),
                    epochs=(*run.epochs, run.written),
                    cost=run.cost + run.row[-1],
                    row=(0,),
                )
                for run in beam
            ]
        )
    return min(beam, key=lambda run: run.cost)


def _prune(beam: list[_PartialRun]) -> list[_PartialRun]:
    """Keep the best runs, and only one of those that continue in the same way."""
    kept: dict[Any, _PartialRun] = {}
    for run in sorted(beam, key=lambda run: run.rank):
        kept.setdefault((run.positions, run.state, run.row, run.cost), run)
        if len(kept) == BEAM_WIDTH:
            break
    return list(kept.values())


def _extend(
    task: Task, segments: Sequence[tuple[Event, ...]], target: tuple[Event, ...] | None, run: _PartialRun
) -> list[_PartialRun]:
    """Read one more event, from each input; from the first only, if the output was not observed."""
    extended = []
    for index, events in enumerate(segments):
        position = run.positions[index]
        if position == len(events):
            continue
        state, outputs = task.program(run.state, events[position])
        row = run.row
        for output in outputs if target is not None else ():
            row = _next_row(row, target or (), output)
        extended.append(
            evolve(
                run,
                state=state,
                positions=(*run.positions[:index], position + 1, *run.positions[index + 1 :]),
                order=(*run.order, index),
                written=(*run.written, *outputs),
                row=row,
            )
        )
        if target is None:
            break
    return extended


def _next_row(row: tuple[int, ...], target: tuple[Event, ...], output: Event) -> tuple[int, ...]:
    """Compute the next row of Levenshtein's table."""
    following = [row[0] + 1]
    for index, event in enumerate(target):
        change = row[index] + (event != output or type(event) is not type(output))
        following.append(min(change, row[index + 1] + 1, following[index] + 1))
    return tuple(following)
