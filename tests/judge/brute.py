"""Brute force: the judge's questions, answered by trying every order."""

from collections.abc import Iterator, Sequence
from typing import Any


def orders(lengths: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every order in which sequences of these lengths can be interleaved."""
    if not any(lengths):
        yield ()
    for port, length in enumerate(lengths):
        if length:
            shorter = [n - (m == port) for m, n in enumerate(lengths)]
            for rest in orders(shorter):
                yield (port, *rest)


def outcome(program: Any, state: Any, inputs: Sequence[tuple], order: Sequence[int]) -> tuple[tuple, Any]:
    """What a task emits for its inputs in this order, and the state it ends in."""
    at = [0] * len(inputs)
    emitted: list = []
    for port in order:
        state, outputs = program(state, inputs[port][at[port]])
        at[port] += 1
        emitted.extend(outputs)
    return tuple(emitted), state


def outcomes(program: Any, state: Any, inputs: Sequence[tuple]) -> set[tuple[tuple, Any]]:
    """Every output and end state a task can come to."""
    return {outcome(program, state, inputs, order) for order in orders([len(events) for events in inputs])}


def common(one: Sequence, other: Sequence) -> int:
    """How many elements two sequences begin with in common."""
    for index, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b or type(a) is not type(b):
            return index
    return min(len(one), len(other))
