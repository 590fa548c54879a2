"""Strategies for failure schedules, and for holds that make epochs overlap."""

from collections.abc import Sequence
from typing import TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.case import BORDER, PHASES, TARGETS, Crash, Failure, Graph, Hold, Kill, Partition, Phase, Restart
from conformance.engine import EVERYTHING, Capabilities

AGAIN = "again"
"""A repetition of the failure before, at the same point."""

AT_ONCE = "at once"
"""A crash with no progress since the failure before: at the first event of the epoch that is being done again."""

NONE = "none"

WEIGHTS = {NONE: 25, "crash": 12, "kill": 20, "restart": 3, "partition": 3, AGAIN: 6, AT_ONCE: 18}
"""
How likely each kind is, and the order in which kinds shrink: no failure is simplest, then come crashes. Kinds that
depend on the failure before come last, so that no other kind has to shrink past them.
"""

FailureSketch: TypeAlias = tuple[str, int, int, int | str, tuple[str, Phase]]
"""A failure before there is a graph: a kind, a task by number, an epoch, an event, and a kill's target and phase."""

HoldSketch: TypeAlias = tuple[int, int]
"""A hold before there is a graph: a task by number, and an epoch."""


def failures(
    *, graph: Graph, epochs: int, capabilities: Capabilities = EVERYTHING, most: int = 3
) -> SearchStrategy[tuple[Failure, ...]]:
    """
    Schedules of at most `most` failures, all of which can fire, of the kinds an engine supports.

    Shrinks towards no failure, then one early crash of the first task.
    """
    drawn = failure_sketches(epochs=epochs, capabilities=capabilities, most=most)
    return drawn.map(lambda each: schedule_of(each, graph, epochs))


def failure_sketches(*, epochs: int, capabilities: Capabilities, most: int) -> SearchStrategy[Sequence[FailureSketch]]:
    """Sketches of schedules: every list of them makes a schedule, for any graph."""
    aims = [aim for aim in _aims() if capabilities.can_inject(Kill(aim[0], 1, aim[1]))]
    possible = {NONE, *(capabilities.failures & {"crash", "restart", "partition"})}
    possible |= {AGAIN, AT_ONCE} if "crash" in possible else set()
    possible |= {"kill"} if aims else set()
    kinds = [kind for kind, weight in WEIGHTS.items() if kind in possible for _ in range(weight)]
    places: tuple[int | str, ...] = (0, 1, BORDER, 2)
    sketch = st.tuples(
        st.sampled_from(kinds),
        st.integers(0, 11),
        st.integers(1, epochs),
        st.sampled_from(places),
        st.sampled_from(aims or _aims()),
    )
    return st.tuples(*[sketch] * most)


def _aims() -> list[tuple[str, Phase]]:
    """List every target and phase; a recovery twice, as half of these find nothing to recover from."""
    return [(target, phase) for phase in (*PHASES, PHASES[-1]) for target in TARGETS]


def schedule_of(sketches: Sequence[FailureSketch], graph: Graph, epochs: int) -> tuple[Failure, ...]:
    """
    Make a schedule of sketches in which every failure can happen after the ones before it.

    Recovery repeats the epoch in which a failure happened, so the next failure may be in the same epoch or in a later
    one: failures are sorted by epoch and otherwise keep their order. A failure after the commit of an epoch comes last
    in that epoch, and an epoch has at most one of them. Sorting, unlike moving late failures, keeps the epoch of each
    failure when others are removed.
    """
    tasks = [task.name for task in graph.tasks]
    found: list[Failure] = []
    for kind, number, epoch, event, aim in sketches:
        before = found[-1] if found and not _commits(found[-1]) else None
        failure = _failure(kind, tasks[number % len(tasks)], min(epoch, epochs), event, aim, before)
        if failure is not None and not (_commits(failure) and failure.epoch in map(_committed, found)):
            found.append(failure)
    return tuple(sorted(found, key=lambda failure: (failure.epoch, _commits(failure))))


def _commits(failure: Failure) -> bool:
    """Tell whether a failure happens after its epoch is committed."""
    return isinstance(failure, Restart) or (isinstance(failure, Kill) and failure.phase == "commit")


def _committed(failure: Failure) -> int | None:
    return failure.epoch if _commits(failure) else None


def _failure(
    kind: str, task: str, epoch: int, event: int | str, aim: tuple[str, Phase], before: Failure | None
) -> Failure | None:
    target, phase = aim
    by_kind: dict[str, Failure | None] = {
        NONE: None,
        "crash": Crash(task, epoch, event),
        AGAIN: before,
        AT_ONCE: Crash(task, before.epoch, 0) if before else None,
        "restart": Restart(epoch),
        "partition": Partition("worker", epoch, 1),
    }
    if kind in by_kind:
        return by_kind[kind]
    if phase == "recovery":
        return Kill(target, before.epoch, phase) if before else None
    return Kill(target, epoch, None if phase == "processing" else phase)


def holds(*, graph: Graph, epochs: int, most: int = 2) -> SearchStrategy[tuple[Hold, ...]]:
    """Tuples of holds, which make slow branches of diamonds and late sources. Shrinks towards none."""
    return hold_sketches(epochs=epochs, most=most).map(lambda sketches: holds_of(sketches, graph, epochs))


def hold_sketches(*, epochs: int, most: int) -> SearchStrategy[Sequence[HoldSketch]]:
    """Sketches of holds: every list of them makes holds, for any graph."""
    return st.lists(st.tuples(st.integers(0, 11), st.integers(1, epochs)), max_size=most)


def holds_of(sketches: Sequence[HoldSketch], graph: Graph, epochs: int) -> tuple[Hold, ...]:
    """Make holds of sketches, each hold once."""
    tasks = [task.name for task in graph.tasks]
    return tuple(dict.fromkeys(Hold(tasks[number % len(tasks)], min(epoch, epochs)) for number, epoch in sketches))
