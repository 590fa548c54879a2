"""Failure schedules, and holds that make epochs overlap."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TypeAlias

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.case import BORDER, PHASES, TARGETS, Crash, Failure, Graph, Hold, Kill, Partition, Restart
from conformance.engine import EVERYTHING, Capabilities

_Idea: TypeAlias = Callable[[str, int, int | str, Failure | None], Failure | None]
"""
Makes a failure of a task, an epoch, an event, and the failure before it if that is still to be recovered from.

None where there is nothing to make: no failure to repeat, no recovery to disturb.
"""


_EVENTS: tuple[int | str, ...] = (0, 1, BORDER, 2)


def failures(
    *, graph: Graph, epochs: int, capabilities: Capabilities = EVERYTHING, most: int = 3
) -> SearchStrategy[tuple[Failure, ...]]:
    """
    Schedules of at most so many failures, all of which can fire, of the kinds an engine supports.

    Shrinks towards no failure, then one early crash of the first task.
    """
    return _schedules(tuple(task.name for task in graph.tasks), epochs, capabilities, most)


@cache
def _schedules(
    tasks: tuple[str, ...], epochs: int, capabilities: Capabilities, most: int
) -> SearchStrategy[tuple[Failure, ...]]:
    ideas = [idea for weight, idea in _ideas(capabilities) for _ in range(weight)]
    if most == 0 or not ideas:
        return st.just(())
    one = st.tuples(
        st.sampled_from(ideas),
        st.sampled_from(tasks),
        st.integers(1, epochs),
        st.sampled_from(_EVENTS),
    )
    calm = st.sampled_from([True] + [False] * 7)
    drawn = st.tuples(calm, st.lists(one, min_size=1, max_size=most))
    return drawn.map(lambda pair: () if pair[0] else tuple(_that_fire(pair[1], epochs)))


def _ideas(capabilities: Capabilities) -> Iterator[tuple[int, _Idea]]:
    """What may strike, and how likely. Crashes come first, as they are the easiest to understand."""
    if "crash" in capabilities.failures:
        yield 9, lambda task, epoch, event, _: Crash(task, epoch, event)
        yield 3, lambda _task, _epoch, _event, before: before
        yield 3, lambda task, _, _event, before: None if before is None else Crash(task, before.epoch, 0)
    for target in TARGETS:
        for phase in PHASES:
            kill = Kill(target, 1, None if phase == "processing" else phase)
            if capabilities.fails(kill):
                yield 2 if phase == "recovery" else 1, _kill_in_recovery(kill) if phase == "recovery" else _kill(kill)
    if "restart" in capabilities.failures:
        yield 2, lambda _, epoch, _event, _before: Restart(epoch)
    if "partition" in capabilities.failures:
        yield 2, lambda _, epoch, _event, _before: Partition("worker", epoch, 1)


def _kill(kill: Kill) -> _Idea:
    return lambda _, epoch, _event, _before: evolve(kill, epoch=epoch)


def _kill_in_recovery(kill: Kill) -> _Idea:
    return lambda _, _epoch, _event, before: None if before is None else evolve(kill, epoch=before.epoch)


def _that_fire(drawn: Sequence[tuple[_Idea, str, int, int | str]], epochs: int) -> Iterator[Failure]:
    """
    The schedule these ideas come to, each at a point that is still ahead when it is armed.

    A failure in an uncommitted epoch is followed by a recovery that does this epoch again, so whatever comes next may
    strike in the same epoch or later; after a commit or a restart only in a later one, and where there is none the
    schedule ends.
    """
    earliest = 1
    before: Failure | None = None
    for idea, task, epoch, event in drawn:
        if earliest > epochs:
            return
        failure = idea(task, max(epoch, earliest), event, before)
        if failure is None:
            continue
        yield failure
        commits = isinstance(failure, Restart) or (isinstance(failure, Kill) and failure.phase == "commit")
        earliest = failure.epoch + 1 if commits else failure.epoch
        before = None if commits else failure


def holds(*, graph: Graph, epochs: int, most: int = 2) -> SearchStrategy[tuple[Hold, ...]]:
    """Tasks that are late for an epoch: slow branches of diamonds, late sources. Shrinks towards none."""
    return _holds(tuple(task.name for task in graph.tasks), epochs, most)


@cache
def _holds(tasks: tuple[str, ...], epochs: int, most: int) -> SearchStrategy[tuple[Hold, ...]]:
    hold = st.builds(Hold, st.sampled_from(tasks), st.integers(1, epochs))
    return st.lists(hold, max_size=most, unique=True).map(tuple)
