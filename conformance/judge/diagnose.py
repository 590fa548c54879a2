"""
What went wrong, in a user's words.

The judge proves that no execution explains an output; a diagnosis is our best guess at why, and changes no verdict. It
asks in turn: would it be right had the task taken events of the next epoch? does the output account for events more
than once, or not at all? for the right ones in a wrong order? If none of these, the state must have been wrong.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from conformance.errors import OutOfBudget
from conformance.judge.budget import Budget
from conformance.judge.explain import Seen, Unexplained
from conformance.judge.search import Furthest, Piece, Search
from conformance.judge.tokens import read
from conformance.judge.verdict import QUOTED, Diagnosis, Finding
from conformance.judge.way import Segment
from conformance.programs import Count, Digest, Event, Program, Sum

FAR = 6
"""How many events of the next epoch a task is suspected to have taken early, at most."""

_MEANING: dict[Diagnosis, str] = {
    "misaligned": "It would be right had `{task}` taken events of epoch {next} before the border of epoch {epoch}.",
    "duplicated": "Something was counted or shown more often than it happened.",
    "lost": "Something that happened was not counted or not shown.",
    "reordered": "Everything is there, in an order that no interleaving of the inputs gives.",
    "corrupted state": "The task went on from a state that it cannot have had.",
}


def diagnose(seen: Seen, found: Unexplained, observation: int, *, aligned: bool) -> Finding:
    """The finding for an output that no execution explains."""
    shown = seen[found.stream][found.epoch - 1] or ()
    inputs = [seen[stream][found.epoch - 1] for stream in found.task.inputs]
    diagnosis = _diagnosis(seen, found, shown, inputs, aligned=aligned)
    return Finding(
        diagnosis=diagnosis,
        because=" ".join((_where(found, shown), _inputs(found, inputs), _meaning(diagnosis, found))),
        observation=observation,
        stream=found.stream,
        epoch=found.epoch,
        position=found.position,
        expected=found.expected,
        observed=shown[found.position :][:QUOTED],
    )


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


def _meaning(diagnosis: Diagnosis, found: Unexplained) -> str:
    return _MEANING[diagnosis].format(task=found.task.name, epoch=found.epoch, next=found.epoch + 1)


def _value(event: Event) -> str:
    return repr(event) if isinstance(event, int) else ascii(event)


def _diagnosis(
    seen: Seen, found: Unexplained, shown: Segment, inputs: Sequence[Segment | None], *, aligned: bool
) -> Diagnosis:
    if aligned and _overtakes(seen, found, shown):
        return "misaligned"
    known = [events for events in inputs if events is not None]
    if len(known) < len(inputs):
        return "corrupted state"
    return compare(*_accounts(found.task.program, found.state, known, shown))


def _overtakes(seen: Seen, found: Unexplained, shown: Segment) -> bool:
    """Whether the output is right if events of the next epoch count too, as many of each input as one likes."""
    task, epoch = found.task, found.epoch
    if len(task.inputs) < 2 or epoch >= len(seen[found.stream]):  # noqa: PLR2004 - one input has nobody to overtake
        return False
    both = [(seen[stream][epoch - 1], seen[stream][epoch]) for stream in task.inputs]
    if any(now is None or then is None for now, then in both):
        return False
    for early in range(1, sum(len(then or ()) for _, then in both) + 1):
        for choice in _splits(early, [len(then or ()) for _, then in both]):
            inputs = tuple(
                tuple((1, event) for event in (*(now or ()), *(then or ())[:taken]))
                for (now, then), taken in zip(both, choice, strict=True)
            )
            piece = Piece(task.name, task.program, inputs, shown, (len(shown),), hidden=False)
            try:
                if next(Search([piece], 1, Budget(steps=2_000), Furthest()).ways((found.state,)), None):
                    return True
            except OutOfBudget:
                return False
        if early >= FAR:
            return False
    return False


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
