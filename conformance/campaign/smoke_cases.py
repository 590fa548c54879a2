"""
The cases of a smoke test: each tries one thing that an adapter has to get right, from the simplest on.

They are made to be read in a transcript: few events, small numbers, one idea each.
"""

from collections.abc import Iterator
from typing import Any

from attrs import evolve, frozen

from conformance.case import BORDER, PHASES, TARGETS, Case, Crash, Failure, Graph, Hold, Kill, Partition, Restart, Task
from conformance.engine import Capabilities
from conformance.programs import (
    RESET,
    Average,
    Batch,
    Count,
    Digest,
    Distinct,
    Filter,
    KeyedSum,
    Map,
    P,
    Program,
    Repeat,
    Sum,
)

EACH: tuple[Program[Any], ...] = (
    Map(3, 1),
    Filter(2, 0),
    Repeat(2),
    Sum(),
    Count(),
    Digest(),
    Distinct(),
    Batch(2),
    Average(),
    KeyedSum(3),
)
"""Every program."""

EVENTS = ((4, 7, "text", 7), (), (P - 1, 2, RESET, 1))
"""Numbers, a repeated one, text, an empty epoch, the largest number, a reset, and an event after it."""


@frozen
class SmokeCase:
    """A case, and the name of what it tries."""

    name: str
    case: Case
    sinks_only: bool = False


def smoke_cases(can: Capabilities) -> Iterator[SmokeCase]:
    """Yield the cases that an engine with these capabilities supports."""
    for smoke_case in _all(can):
        if not can.unsupported(smoke_case.case):
            yield smoke_case


def _all(can: Capabilities) -> Iterator[SmokeCase]:
    stateless, stateful = _program(can, stateful=False), _program(can, stateful=True)
    yield SmokeCase("one task, one epoch", _line((stateless,), ((1, 2, 3),)))
    yield SmokeCase("epochs, one of them empty", _line((stateless,), ((1, 2), (), (3,))))
    for program in EACH:
        yield SmokeCase(f"program {program.op}", _line((program,), EVENTS))
    yield SmokeCase("a task behind another", _line((stateless, stateful), ((1, 2), (3,))))
    yield SmokeCase("a task with two inputs", _joined(stateful))
    yield SmokeCase("a stream with two readers", _shared(stateless, stateful))
    yield SmokeCase("only what is asked for", _line((stateless, stateful), ((1, 2), (3,))), sinks_only=True)
    failing = _line((stateful, stateless), ((1, 2), (3, 4), (5,)))
    for failure in _failures():
        yield SmokeCase(f"failure {_words(failure)}", evolve(failing, failures=(failure,)))
    crash = Crash("first", 2, 1)
    yield SmokeCase("a failure, and the same again", evolve(failing, failures=(crash, crash)))
    yield SmokeCase("a task that is held back", evolve(_joined(stateful), holds=(Hold("join", 1),)))


def _program(can: Capabilities, *, stateful: bool) -> Program[Any]:
    """Choose a program that the engine supports, stateful or stateless if possible."""
    known = [program for program in EACH if program.op in can.programs]
    fitting = [program for program in known if (program.initial is not None) == stateful]
    return (fitting or known or list(EACH))[0]


def _line(programs: tuple[Program[Any], ...], epochs: tuple[tuple[int | str, ...], ...]) -> Case:
    """Make a case of tasks in a row."""
    names = ("first", "second")[: len(programs)]
    streams = ("in", "middle", "out") if len(programs) > 1 else ("in", "out")
    tasks = tuple(
        Task(name, (read,), written, program)
        for name, read, written, program in zip(names, streams, streams[1:], programs, strict=False)
    )
    return Case(Graph(("in",), tasks), {"in": epochs})


def _joined(program: Program[Any]) -> Case:
    graph = Graph(("left", "right"), (Task("join", ("left", "right"), "out", program),))
    return Case(graph, {"left": ((1, 2), (3,)), "right": ((10,), (20, 30))})


def _shared(one: Program[Any], other: Program[Any]) -> Case:
    tasks = (Task("first", ("in",), "one", one), Task("second", ("in",), "two", other))
    return Case(Graph(("in",), tasks), {"in": ((1, 2), (3,))})


def _failures() -> Iterator[Failure]:
    """Yield every kind of failure, in the second of three epochs."""
    yield from (Crash("first", 2, 0), Crash("first", 2, 1), Crash("first", 2, BORDER), Crash("second", 1, 0))
    yield Restart(2)
    for target in TARGETS:
        yield from (Kill(target, 2, phase) for phase in PHASES if phase != "recovery")
    yield Partition("worker", 2, 1.0)


def _words(failure: Failure) -> str:
    match failure:
        case Crash(task=task, epoch=epoch, event=event):
            return f"crash of {task} in epoch {epoch}, at {event if event == BORDER else f'event {event}'}"
        case Kill(target=target, epoch=epoch, phase=phase):
            return f"kill of the {target} in epoch {epoch}, in {phase}"
        case Restart(epoch=epoch):
            return f"restart after epoch {epoch}"
        case Partition(epoch=epoch):
            return f"partition in epoch {epoch}"
