"""
Diagnoses: what went wrong, in a user's words.

The judge proves that no execution explains an output; a diagnosis is our best guess at why, and changes no verdict. It
asks in turn: would it be right had the task taken events of the next epoch? does the output account for events more
than once, or not at all? for the right ones in a wrong order? If none of these, the state must have been wrong.

Events that were taken early do not come again, unless the epoch they belong to is played once more after a failure:
then they are counted twice, which breaks another guarantee, and is another finding.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from conformance.case import Graph
from conformance.errors import OutOfBudget
from conformance.judge.budget import Budget
from conformance.judge.explain import StreamSegments, Unexplained
from conformance.judge.ordering import Segment
from conformance.judge.search import Furthest, Search, SearchTask, Tagged
from conformance.judge.tokens import read
from conformance.judge.verdict import QUOTED, Diagnosis, Finding
from conformance.programs import Count, Digest, Event, Program, Sum

MOST_CHOICES = 6
"""The largest number of early events for which each choice is tried by itself; more are searched for in one go."""

STEPS, MORE_STEPS = 2_000, 50_000
"""The search's budget: for one such choice, and for the search in one go."""

_MEANING: dict[str, str] = {
    "misaligned": "It would be right had `{task}` taken events of epoch {next} before the border of epoch {epoch}.",
    "duplicated": "Something was counted or shown more often than it happened.",
    "counted again": "It is right if `{task}`, which took events of epoch {next} early, took them again in that epoch.",
    "lost": "Something that happened was not counted or not shown.",
    "reordered": "Everything is there, in an order that no interleaving of the inputs gives.",
    "corrupted state": "The task went on from a state that it cannot have had.",
}


def diagnose(
    segments: StreamSegments, found: Unexplained, shown_by: Callable[[int], int], *, aligned: bool
) -> list[Finding]:
    """
    Find out what is wrong with an output that no execution explains and, perhaps, with the epoch after it.

    `shown_by` gives the first observation that shows an epoch of it.
    """
    shown = segments[found.stream][found.epoch - 1] or ()
    inputs = [segments[stream][found.epoch - 1] for stream in found.task.inputs]
    early = list(_taken_early(segments, found, shown)) if aligned else []
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
    return [finding, *_counted_again(segments, found, early, shown_by)]


def add_determined_streams(graph: Graph, segments: StreamSegments) -> StreamSegments:
    """
    Add unobserved streams whose content is determined: a single-input task has one possible output.

    That is so where snapshots are aligned; otherwise the epoch in which an event is taken is a choice, too.
    """
    known = dict(segments)
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
    shows = (
        f"shows {_value(shown[found.position])} at position {found.position}"
        if found.position < len(shown)
        else (f"ends after {len(shown)} events")
    )
    could = [_value(each) for each in found.expected[:QUOTED]] or ["nothing more"]
    return f"{place} {shows}, where `{found.task.name}` could have shown {' or '.join(could)}."


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


def _taken_early(segments: StreamSegments, found: Unexplained, shown: Segment) -> Iterator[Early]:
    """
    Find how the output is right if events of the next epoch count too.

    Try the fewest early events first; if there are too many choices, search with any number.
    """
    task, epoch = found.task, found.epoch
    if len(task.inputs) < 2 or epoch >= len(segments[found.stream]):  # noqa: PLR2004 - one input overtakes none
        return
    both = [(segments[stream][epoch - 1], segments[stream][epoch]) for stream in task.inputs]
    if any(now is None or then is None for now, then in both):
        return
    most = [len(then or ()) for _, then in both]
    is_open = sum(most) > MOST_CHOICES
    for early in range(1, min(sum(most), MOST_CHOICES) + 1):
        is_right = False
        for choice in _splits(early, most):
            inputs = [(*(now or ()), *(then or ())[:taken]) for (now, then), taken in zip(both, choice, strict=True)]
            try:
                end = _end_states(found, found.state, inputs, shown)
            except OutOfBudget:
                is_open = True
                continue
            if end:
                is_right = True
                yield choice, end[0]
        if is_right:
            return
    if not is_open:
        return
    with suppress(OutOfBudget):
        yield from _taken_far_ahead(found, [(now or (), then or ()) for now, then in both], shown)


def _end_states(found: Unexplained, state: Any, inputs: Sequence[Segment], shown: Segment) -> tuple[Any, ...]:
    """Find the state after some order of these inputs that shows this; empty, if no order does."""
    tagged = [[(1, event) for event in events] for events in inputs]
    search = Search([_search_task(found, tagged, shown)], 1, Budget(steps=STEPS), Furthest())
    ordering = next(search.orderings((state,)), None)
    return () if ordering is None else ordering.states


def _taken_far_ahead(found: Unexplained, both: Sequence[tuple[Segment, Segment]], shown: Segment) -> Iterator[Early]:
    """Find how the output is right if any number of events of the next epoch count too, once for each end state."""
    tagged = [[*((1, event) for event in now), *((2, event) for event in then)] for now, then in both]
    search = Search([_search_task(found, tagged, shown)], 1, Budget(steps=MORE_STEPS), Furthest(), early=True)
    for ordering in search.orderings((found.state,)):
        taken = Counter(ordering.orders[0][0])
        yield tuple(taken[port] - len(now) for port, (now, _) in enumerate(both)), ordering.states[0]


def _search_task(found: Unexplained, tagged: Sequence[Sequence[Tagged]], shown: Segment) -> SearchTask:
    """Prepare the task for a search by itself, in the one epoch in which it shows this."""
    program = found.task.program
    return SearchTask(found.task.name, program, tuple(map(tuple, tagged)), shown, (len(shown),), hidden=False)


def _counted_again(
    segments: StreamSegments, found: Unexplained, early: Sequence[Early], shown_by: Callable[[int], int]
) -> list[Finding]:
    """
    Find out whether the next epoch is right only if its events that were taken early are taken once more.

    There is no finding if it is right without them, too.
    """
    shown = segments[found.stream][found.epoch] if early else None
    if shown is None:
        return []
    inputs = [segments[stream][found.epoch] or () for stream in found.task.inputs]
    try:
        for choice, state in early:
            remaining = [events[taken:] for events, taken in zip(inputs, choice, strict=True)]
            if _end_states(found, state, remaining, shown):
                return []
        repeated = next((choice for choice, state in early if _end_states(found, state, inputs, shown)), None)
    except OutOfBudget:
        return []
    if repeated is None:
        return []
    events = [_value(each) for taken, some in zip(repeated, inputs, strict=True) for each in some[:taken]]
    where = (
        f"Epoch {found.epoch + 1} of `{found.stream}` counts {_listed(events)} again, after epoch {found.epoch} did."
    )
    because = f"{where} {_meaning('counted again', found)}"
    epoch = found.epoch + 1
    return [Finding("duplicated", because, shown_by(epoch), found.stream, epoch, 0, (), shown[:QUOTED])]


def _listed(values: Sequence[str]) -> str:
    return " and ".join(values[:QUOTED]) + (" and more" if len(values) > QUOTED else "")


def _splits(total: int, most: Sequence[int]) -> list[tuple[int, ...]]:
    """List the choices of `total` events from inputs that have `most` each."""
    if not most:
        return [()] if total == 0 else []
    return [(n, *rest) for n in range(min(total, most[0]) + 1) for rest in _splits(total - n, most[1:])]


def _accounts(
    program: Program[Any], state: Any, inputs: Sequence[Segment], shown: Segment
) -> tuple[list[object], list[object]]:
    """
    Return what should be accounted for, and what is.

    These are events, where the output tells which they were, and outputs otherwise.
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
    """Return what a count accounts for: an event for each step up; any other step is a state it cannot have had."""
    counted: list[object] = []
    for each in shown:
        if isinstance(each, int):
            counted.append(int if each == state + 1 else each)
            state = each
        else:
            counted.append(each)
    return counted


def compare(wanted: Sequence[object], found: Sequence[object]) -> Diagnosis:
    """Compare what should be there with what is: more, fewer, the same in another order, or something else."""
    missing, extra = Counter(wanted) - Counter(found), Counter(found) - Counter(wanted)
    if not missing and not extra:
        return "reordered"
    if not missing:
        return "duplicated" if extra.keys() <= set(wanted) or len(found) > len(wanted) else "corrupted state"
    if not extra:
        return "lost"
    return "corrupted state"
