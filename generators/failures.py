"""Failure schedules, and holds that make epochs overlap."""

from collections.abc import Sequence
from typing import TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.case import BORDER, PHASES, TARGETS, Crash, Failure, Graph, Hold, Kill, Partition, Phase, Restart
from conformance.engine import EVERYTHING, Capabilities

AGAIN = "again"
"""The failure before, once more at the same point."""

AT_ONCE = "at once"
"""A crash with no progress since the failure before: at the first event of the epoch that is being done again."""

NONE = "none"

WEIGHTS = {NONE: 25, "crash": 12, "kill": 20, "restart": 3, "partition": 3, AGAIN: 6, AT_ONCE: 18}
"""
How likely each is, and what shrinks to what: nothing is simplest, then crashes; what depends on the failure before
comes last, so that nothing has to shrink past it.
"""

Idea: TypeAlias = tuple[str, int, int, int | str, tuple[str, Phase]]
"""A kind, a task by number, an epoch, an event, and what a kill is aimed at."""


def failures(
    *, graph: Graph, epochs: int, capabilities: Capabilities = EVERYTHING, most: int = 3
) -> SearchStrategy[tuple[Failure, ...]]:
    """
    Schedules of at most so many failures, all of which can fire, of the kinds an engine supports.

    Shrinks towards no failure, then one early crash of the first task.
    """
    drawn = ideas(epochs=epochs, capabilities=capabilities, most=most)
    return drawn.map(lambda each: schedule_of(each, graph, epochs))


def ideas(*, epochs: int, capabilities: Capabilities, most: int) -> SearchStrategy[Sequence[Idea]]:
    """Schedules before they are put together: every list of these makes one, for any graph."""
    aims = [aim for aim in _aims() if capabilities.can_inject(Kill(aim[0], 1, aim[1]))]
    possible = {NONE, *(capabilities.failures & {"crash", "restart", "partition"})}
    possible |= {AGAIN, AT_ONCE} if "crash" in possible else set()
    possible |= {"kill"} if aims else set()
    kinds = [kind for kind, weight in WEIGHTS.items() if kind in possible for _ in range(weight)]
    places: tuple[int | str, ...] = (0, 1, BORDER, 2)
    idea = st.tuples(
        st.sampled_from(kinds),
        st.integers(0, 11),
        st.integers(1, epochs),
        st.sampled_from(places),
        st.sampled_from(aims or _aims()),
    )
    return st.tuples(*[idea] * most)


def _aims() -> list[tuple[str, Phase]]:
    """Every target and phase; a recovery twice, as half of these find nothing to recover from."""
    return [(target, phase) for phase in (*PHASES, PHASES[-1]) for target in TARGETS]


def schedule_of(drawn: Sequence[Idea], graph: Graph, epochs: int) -> tuple[Failure, ...]:
    """
    The schedule that these ideas come to, each failure at a point that is still ahead when it is armed.

    A failure in an uncommitted epoch is followed by a recovery that does this epoch again, so whatever comes next may
    strike in the same epoch or later: failures go by epoch, otherwise as they were drawn. What strikes after the
    commit of an epoch goes last in it, and only one of them. (Sorting leaves each failure its own epoch, whichever
    others are taken away; moving a late one on would not.)
    """
    tasks = [task.name for task in graph.tasks]
    found: list[Failure] = []
    for kind, number, epoch, event, aim in drawn:
        before = found[-1] if found and not _commits(found[-1]) else None
        failure = _failure(kind, tasks[number % len(tasks)], min(epoch, epochs), event, aim, before)
        if failure is not None and not (_commits(failure) and failure.epoch in map(_committed, found)):
            found.append(failure)
    return tuple(sorted(found, key=lambda failure: (failure.epoch, _commits(failure))))


def _commits(failure: Failure) -> bool:
    """Whether it strikes when its epoch is committed already."""
    return isinstance(failure, Restart) or (isinstance(failure, Kill) and failure.phase == "commit")


def _committed(failure: Failure) -> int | None:
    return failure.epoch if _commits(failure) else None


def _failure(
    kind: str, task: str, epoch: int, event: int | str, aim: tuple[str, Phase], before: Failure | None
) -> Failure | None:
    target, phase = aim
    alone: dict[str, Failure | None] = {
        NONE: None,
        "crash": Crash(task, epoch, event),
        AGAIN: before,
        AT_ONCE: Crash(task, before.epoch, 0) if before else None,
        "restart": Restart(epoch),
        "partition": Partition("worker", epoch, 1),
    }
    if kind in alone:
        return alone[kind]
    if phase == "recovery":
        return Kill(target, before.epoch, phase) if before else None
    return Kill(target, epoch, None if phase == "processing" else phase)


def holds(*, graph: Graph, epochs: int, most: int = 2) -> SearchStrategy[tuple[Hold, ...]]:
    """Tasks that are late for an epoch: slow branches of diamonds, late sources. Shrinks towards none."""
    return delays(epochs=epochs, most=most).map(lambda drawn: holds_of(drawn, graph, epochs))


def delays(*, epochs: int, most: int) -> SearchStrategy[Sequence[tuple[int, int]]]:
    """Holds before they are put together: a task by number, and an epoch."""
    return st.lists(st.tuples(st.integers(0, 11), st.integers(1, epochs)), max_size=most)


def holds_of(drawn: Sequence[tuple[int, int]], graph: Graph, epochs: int) -> tuple[Hold, ...]:
    """The holds that these numbers come to, each once."""
    tasks = [task.name for task in graph.tasks]
    return tuple(dict.fromkeys(Hold(tasks[number % len(tasks)], min(epoch, epochs)) for number, epoch in drawn))
