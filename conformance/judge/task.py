"""
One task, one epoch, everything observed: which orders of its inputs give its output?

Every program has a way of its own here, because every program lets us conclude something from its output. Each way says
in its docstring why it misses no order and invents none. What none of them handles (text in a batch, resets, more
inputs than a lattice can hold) is left to the general search, by returning None.
"""

from collections.abc import Sequence
from typing import Any

from conformance.judge.lattice import TooWide
from conformance.judge.ordering import NoOrdering, Ordering, Segment, in_order
from conformance.judge.sums import by_sum
from conformance.judge.tokens import by_token, keyed
from conformance.programs import Average, Batch, Count, Digest, Distinct, Filter, KeyedSum, Map, Program, Repeat, Sum


def ways(program: Program[Any], state: Any, inputs: Sequence[Segment], output: Segment) -> Ordering | NoOrdering | None:
    """
    An order of the inputs that takes the program from `state` through exactly `output`; or how far any gets; or None
    if that has to be searched for.

    Where an order exists, every other one that gives the same output leaves the same state, so one is enough. (A
    program for which that is not so, `average` with resets, is searched.)
    """
    if len(inputs) == 1:
        return _fold(program, state, inputs[0], output)
    try:
        return _several(program, state, inputs, output)
    except TooWide:
        return None


def _fold(program: Program[Any], state: Any, events: Segment, output: Segment) -> Ordering | NoOrdering:
    """One input has one order."""
    position = 0
    for event in events:
        state, emitted = program(state, event)
        for each in emitted:
            if position == len(output) or output[position] != each or type(output[position]) is not type(each):
                return NoOrdering(position, (each,))
            position += 1
    return Ordering((0,) * len(events), state) if position == len(output) else NoOrdering(position)


def _several(
    program: Program[Any], state: Any, inputs: Sequence[Segment], output: Segment
) -> Ordering | NoOrdering | None:
    match program:
        case Map() | Filter() | Repeat() | Sum() | Count() | Digest():
            return by_token(program, state, inputs, output)
        case KeyedSum():
            return keyed(program, state, inputs, output)
        case Distinct():
            return _first_come(program, state, inputs, output)
        case Average() | Batch() if all(isinstance(event, int) for events in inputs for event in events):
            return by_sum(program, state, inputs, output)
    return None


def _first_come(
    program: Distinct, state: Any, inputs: Sequence[Segment], output: Segment
) -> Ordering | NoOrdering | None:
    """
    `distinct`: what has been seen is what has been shown (and what was seen before the epoch), whatever the order.

    So an event already seen shows nothing and changes nothing, now or later, and can be taken at once; of two inputs
    that both offer the next value to be shown, either may be taken, as the other one's is then seen and goes at once
    too. There is no choice to make. With text, which is shown every time, there may be, and the search takes over.
    """
    at = [0] * len(inputs)
    order: list[int] = []

    def skip_what_is_seen() -> None:
        for which, events in enumerate(inputs):
            while at[which] < len(events) and isinstance(events[at[which]], int) and events[at[which]] in state:
                at[which] += 1
                order.append(which)

    skip_what_is_seen()
    for position, shown in enumerate(output):
        offering = [which for which, events in enumerate(inputs) if at[which] < len(events)]
        fitting = [which for which in offering if inputs[which][at[which]] == shown]
        if not fitting:
            return NoOrdering(position, in_order(inputs[which][at[which]] for which in offering))
        if isinstance(shown, str) and len(fitting) > 1:
            return None
        order.append(fitting[0])
        at[fitting[0]] += 1
        state, _ = program(state, shown)
        skip_what_is_seen()
    left = in_order(events[at[which]] for which, events in enumerate(inputs) if at[which] < len(events))
    return NoOrdering(len(output), left) if left else Ordering(tuple(order), state)
