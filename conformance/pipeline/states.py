"""
The state of a task at the start of each epoch, for all epochs at once.

Every order of its inputs that explains the output of a task leaves the same state (see `judge.task`). So the state
follows from what was observed, without the order: sums, counts and sets do not depend on it; a digest is the last
integer of the output; a batch holds the sum of its inputs less that of its output. The only exception is an `average`
that is reset.

What `sum`, `count`, `digest`, `batch` and `average` need is in the summaries. `distinct` and `keyed_sum` may have as
much state as there are events; a group gets the part that belongs to values or keys of its epoch, which is all that its
epoch depends on.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rpds import HashTrieMap, HashTrieSet

from conformance.case import Task
from conformance.pipeline.segments import SegmentSummary
from conformance.programs import Average, Batch, Count, Digest, Distinct, KeyedSum, P, Program, Sum


def is_determined(task: Task, inputs: Sequence[SegmentSummary]) -> bool:
    """Tell whether the states of a task follow from what was observed, given the segments of its inputs."""
    return not isinstance(task.program, Average) or not any(segment.resets for segment in inputs)


def key_count(program: Program[Any]) -> int | None:
    """Return the number of keys of a program with state in the rows, 0 if every value is a key; None for others."""
    match program:
        case Distinct():
            return 0
        case KeyedSum(keys):
            return keys
    return None


def keyed_state(program: Program[Any], keys: Mapping[int, int]) -> Any:
    """Make the state of such a program from its keys, each with the sum of its events."""
    if isinstance(program, Distinct):
        return HashTrieSet(keys)
    return HashTrieMap({key: total % P for key, total in keys.items()})


def start_states(task: Task, epochs: Sequence[tuple[Sequence[SegmentSummary], SegmentSummary]]) -> Iterator[Any]:
    """Yield the state at the start of each epoch, and after the last, from the inputs and the output of each."""
    state = task.program.initial
    yield state
    for inputs, output in epochs:
        count, total = sum(each.integers for each in inputs), sum(each.total for each in inputs)
        state = _after(task.program, state, count, total, output)
        yield state


def _after(program: Program[Any], state: Any, count: int, total: int, output: SegmentSummary) -> Any:
    match program:
        case Sum():
            return (state + total) % P
        case Count():
            return state + count
        case Digest():
            return state if output.last is None else output.last
        case Average():
            return state[0] + total, state[1] + count
        case Batch(size):
            held = (state[0] + count) % size
            return held, (state[1] + total - output.total) % P if held else 0
    return state
