"""
The state that a task has at the start of each epoch, for all epochs at once.

Whatever order of its inputs explains what a task has shown, it leaves the same state (see `judge.task`), so that state
can be read off what was observed, without knowing the order: sums, counts and sets do not depend on it; a digest is the
last integer it has shown; a batch holds what came in less what it has shown. Only an `average` that is reset is not
like that.

What `sum`, `count`, `digest`, `batch` and `average` need is in the summaries. `distinct` and `keyed_sum` may have as
much state as there are events; a group gets of it what belongs to values or keys that occur in its epoch, which is all
that it can depend on.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rpds import HashTrieMap, HashTrieSet

from conformance.case import Task
from conformance.pipeline.segments import SegmentSummary
from conformance.programs import Average, Batch, Count, Digest, Distinct, KeyedSum, P, Program, Sum


def is_known(task: Task, inputs: Sequence[SegmentSummary]) -> bool:
    """Whether the states follow from what was observed, given the segments of its inputs."""
    return not isinstance(task.program, Average) or not any(segment.resets for segment in inputs)


def keys_of(program: Program[Any]) -> int | None:
    """Of a program whose state is in the rows: how many keys it has, 0 if every value is one; of others None."""
    match program:
        case Distinct():
            return 0
        case KeyedSum(keys):
            return keys
    return None


def from_keys(program: Program[Any], keys: Mapping[int, int]) -> Any:
    """The state of such a program from its keys, each with the sum of what it has seen."""
    if isinstance(program, Distinct):
        return HashTrieSet(keys)
    return HashTrieMap({key: total % P for key, total in keys.items()})


def starts(task: Task, epochs: Sequence[tuple[Sequence[SegmentSummary], SegmentSummary]]) -> Iterator[Any]:
    """The state at the start of each of these epochs, and behind the last, from the inputs and the output of each."""
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
