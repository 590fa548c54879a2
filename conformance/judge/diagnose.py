"""
What went wrong, in a user's words.

The judge proves that no execution explains an output; a diagnosis is our best guess at why, and changes no verdict. It
asks in turn: would it be right had the task taken events of the next epoch? does the output account for events more
than once, or not at all? for the right ones in a wrong order? If none of these, the state must have been wrong.

Events that were taken early do not come again, unless the epoch they belong to is played once more after a failure:
then they are counted twice, which is another promise broken, and another finding.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from conformance.case import Graph
from conformance.errors import OutOfBudget
from conformance.judge.budget import Budget
from conformance.judge.explain import Seen, Unexplained
from conformance.judge.ordering import Segment
from conformance.judge.search import Furthest, Piece, Search, Tagged
from conformance.judge.tokens import read
from conformance.judge.verdict import QUOTED, Diagnosis, Finding
from conformance.programs import Count, Digest, Event, Program, Sum

FAR = 6
"""Up to so many events of the next epoch that a task took early are found in every way in which it can have done so."""

STEPS, MORE_STEPS = 2_000, 50_000
"""Of the search: for one such way, and for whatever more was taken."""

_MEANING: dict[str, str] = {
    "misaligned": "It would be right had `{task}` taken events of epoch {next} before the border of epoch {epoch}.",
    "duplicated": "Something was counted or shown more often than it happened.",
    "counted again": "It is right if `{task}`, which took events of epoch {next} early, took them again in that epoch.",
    "lost": "Something that happened was not counted or not shown.",
    "reordered": "Everything is there, in an order that no interleaving of the inputs gives.",
    "corrupted state": "The task went on from a state that it cannot have had.",
}


def diagnose(seen: Seen, found: Unexplained, shown_by: Callable[[int], int], *, aligned: bool) -> list[Finding]:
    """
    The findings for an output that no execution explains: what is wrong with it and, perhaps, with what follows.

    `shown_by` is the first observation that shows an epoch of it.
    """
    shown = seen[found.stream][found.epoch - 1] or ()
    inputs = [seen[stream][found.epoch - 1] for stream in found.task.inputs]
    early = list(_taken_early(seen, found, shown)) if aligned else []
    diagnosis = "misaligned" if early else _diagnosis(found, shown, inputs)
    finding = Finding(
        diagnosis=diagnosis,
        because=" ".join((_where(found, shown), _inputs(found, inputs), _meaning(diagnosis, found))),
        observation=shown_by(found.epoch),
        stream=found.stream,
        epoch=found.epoch,
        position=found.position,
        expected=found.expected,
        observed=shown[found.position :][:QUOTED],
    )
    return [finding, *_counted_again(seen, found, early, shown_by)]


def determined(graph: Graph, seen: Seen) -> Seen:
    """
    With the streams that nobody saw and that can have carried one thing only: a task with one input has no choice.

    That is so where snapshots are aligned; otherwise the epochs in which it comes are a choice, too.
    """
    known = dict(seen)
    for task in graph.in_order:
        given = known[task.inputs[0]]
        if len(task.inputs) > 1 or None in given or any(shown is not None for shown in known[task.output]):
            continue
        state, made = task.program.initial, []
        for events in given:
            emitted: list[Event] = []
            for event in events or ():
                state, outputs = task.program(state, event)
                emitted.extend(outputs)
            made.append(tuple(emitted))
        known[task.output] = made
    return known


def _where(found: Unexplained, shown: Segment) -> str:
    place = f"Epoch {found.epoch} of `{found.stream}`"
    there = (
        f"shows {_value(shown[found.position])} at position {found.position}"
        if found.position < len(shown)
        else (f"ends after {len(shown)} events")
    )
    could = [_value(each) for each in found.expected[:QUOTED]] or ["nothing more"]
    return f"{place} {there}, where `{found.task.name}` could have shown {' or '.join(could)}."


def _inputs(found: Unexplained, inputs: Sequence[Segment | None]) -> str:
    counted = [
        f"{len(events)} of `{stream}`" if events is not None else f"any of `{stream}`, which was not observed,"
        for stream, events in zip(found.task.inputs, inputs, strict=True)
    ]
    return f"No order of its events ({' and '.join(counted)}) gives that."


def _meaning(diagnosis: str, found: Unexplained) -> str:
    return _MEANING[diagnosis].format(task=found.task.name, epoch=found.epoch, next=found.epoch + 1)


def _value(event: Event) -> str:
    return repr(event) if isinstance(event, int) else ascii(event)


def _diagnosis(found: Unexplained, shown: Segment, inputs: Sequence[Segment | None]) -> Diagnosis:
    known = [events for events in inputs if events is not None]
    if len(known) < len(inputs):
        return "corrupted state"
    return compare(*_accounts(found.task.program, found.state, known, shown))


Early: TypeAlias = tuple[tuple[int, ...], Any]
"""How many events of the next epoch were taken of each input, and the state that this leaves."""


def _taken_early(seen: Seen, found: Unexplained, shown: Segment) -> Iterator[Early]:
    """
    How the output is right if events of the next epoch count too: as few of them as will do, or, where that is more
    than can be tried one by one, any number.
    """
    task, epoch = found.task, found.epoch
    if len(task.inputs) < 2 or epoch >= len(seen[found.stream]):  # noqa: PLR2004 - one input has nobody to overtake
        return
    both = [(seen[stream][epoch - 1], seen[stream][epoch]) for stream in task.inputs]
    if any(now is None or then is None for now, then in both):
        return
    most = [len(then or ()) for _, then in both]
    is_open = sum(most) > FAR
    for early in range(1, min(sum(most), FAR) + 1):
        is_right = False
        for choice in _splits(early, most):
            inputs = [(*(now or ()), *(then or ())[:taken]) for (now, then), taken in zip(both, choice, strict=True)]
            try:
                left = _left_by(found, found.state, inputs, shown)
            except OutOfBudget:
                is_open = True
                continue
            if left:
                is_right = True
                yield choice, left[0]
        if is_right:
            return
    if not is_open:
        return
    with suppress(OutOfBudget):
        yield from _taken_far_ahead(found, [(now or (), then or ()) for now, then in both], shown)


def _left_by(found: Unexplained, state: Any, inputs: Sequence[Segment], shown: Segment) -> tuple[Any, ...]:
    """The state that the task is left in by some order of these inputs that shows this; none, if none does."""
    tagged = [[(1, event) for event in events] for events in inputs]
    way = next(Search([_piece(found, tagged, shown)], 1, Budget(steps=STEPS), Furthest()).ways((state,)), None)
    return () if way is None else way.states


def _taken_far_ahead(found: Unexplained, both: Sequence[tuple[Segment, Segment]], shown: Segment) -> Iterator[Early]:
    """How the output is right if any number of events of the next epoch count too: one way for each state it leaves."""
    tagged = [[*((1, event) for event in now), *((2, event) for event in then)] for now, then in both]
    search = Search([_piece(found, tagged, shown)], 1, Budget(steps=MORE_STEPS), Furthest(), early=True)
    for way in search.ways((found.state,)):
        taken = Counter(way.orders[0][0])
        yield tuple(taken[which] - len(now) for which, (now, _) in enumerate(both)), way.states[0]


def _piece(found: Unexplained, tagged: Sequence[Sequence[Tagged]], shown: Segment) -> Piece:
    """The task, all by itself, in the one epoch that it shows this in."""
    program = found.task.program
    return Piece(found.task.name, program, tuple(map(tuple, tagged)), shown, (len(shown),), hidden=False)


def _counted_again(
    seen: Seen, found: Unexplained, early: Sequence[Early], shown_by: Callable[[int], int]
) -> list[Finding]:
    """
    The finding for an epoch that is right only if what was taken early of it is taken once more.

    If it is right with what is left of it, too, nothing is said.
    """
    shown = seen[found.stream][found.epoch] if early else None
    if shown is None:
        return []
    inputs = [seen[stream][found.epoch] or () for stream in found.task.inputs]
    try:
        for choice, state in early:
            left = [events[taken:] for events, taken in zip(inputs, choice, strict=True)]
            if _left_by(found, state, left, shown):
                return []
        again = next((choice for choice, state in early if _left_by(found, state, inputs, shown)), None)
    except OutOfBudget:
        return []
    if again is None:
        return []
    events = [_value(each) for taken, some in zip(again, inputs, strict=True) for each in some[:taken]]
    where = (
        f"Epoch {found.epoch + 1} of `{found.stream}` counts {_listed(events)} again, after epoch {found.epoch} did."
    )
    because = f"{where} {_meaning('counted again', found)}"
    epoch = found.epoch + 1
    return [Finding("duplicated", because, shown_by(epoch), found.stream, epoch, 0, (), shown[:QUOTED])]


def _listed(values: Sequence[str]) -> str:
    return " and ".join(values[:QUOTED]) + (" and more" if len(values) > QUOTED else "")


def _splits(total: int, most: Sequence[int]) -> list[tuple[int, ...]]:
    """The ways to take so many events from inputs that have so many."""
    if not most:
        return [()] if total == 0 else []
    return [(n, *rest) for n in range(min(total, most[0]) + 1) for rest in _splits(total - n, most[1:])]


def _accounts(
    program: Program[Any], state: Any, inputs: Sequence[Segment], shown: Segment
) -> tuple[list[object], list[object]]:
    """
    What should be accounted for, and what is: events, where the output tells which they were, and outputs otherwise.

    The outputs that should be there are those of the inputs one after the other; for programs that end up here the
    order changes little about how many there are.
    """
    events: list[object] = [event for segment in inputs for event in segment]
    if isinstance(program, Sum | Digest):
        return events, read(program, state, shown).tokens
    if isinstance(program, Count):
        return [int if isinstance(each, int) else each for each in events], _counted(state, shown)
    emitted: list[object] = []
    for event in events:
        state, outputs = program(state, event)  # type: ignore[arg-type]
        emitted.extend(outputs)
    return emitted, list(shown)


def _counted(state: int, shown: Segment) -> list[object]:
    """What a count accounts for: an event for each step up; a step of another size is a state it cannot have had."""
    counted: list[object] = []
    for each in shown:
        if isinstance(each, int):
            counted.append(int if each == state + 1 else each)
            state = each
        else:
            counted.append(each)
    return counted


def compare(wanted: Sequence[object], found: Sequence[object]) -> Diagnosis:
    """What happened to a sequence on its way: more, fewer, the same in another order, or something else altogether."""
    missing, extra = Counter(wanted) - Counter(found), Counter(found) - Counter(wanted)
    if not missing and not extra:
        return "reordered"
    if not missing:
        return "duplicated" if extra.keys() <= set(wanted) or len(found) > len(wanted) else "corrupted state"
    if not extra:
        return "lost"
    return "corrupted state"
