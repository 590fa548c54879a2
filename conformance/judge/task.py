"""
The short cuts: one task in one epoch, with its inputs and its output all observed.

Every program has a short cut of its own here, because every program lets us conclude something from its output. Each
says in its docstring why it misses no order and invents none. What none of them handles (text in a batch, resets, more
inputs than a lattice can hold) is left to the general search, by returning None.
"""

from collections.abc import Sequence
from typing import Any

from conformance.judge.lattice import TooWide
from conformance.judge.ordering import NoOrdering, Ordering, Segment, in_order
from conformance.judge.sums import by_sum
from conformance.judge.tokens import by_token, keyed
from conformance.programs import Average, Batch, Count, Digest, Distinct, Filter, KeyedSum, Map, Program, Repeat, Sum


def find_ordering(
    program: Program[Any], state: Any, inputs: Sequence[Segment], output: Segment
) -> Ordering | NoOrdering | None:
    """
    Find an order of the inputs that takes the program from `state` through exactly `output`.

    The answer is such an order, or how far any order gets, or None if there is no short cut and the general search has
    to decide. Where an order exists, every other one that gives the same output leaves the same state, so one is
    enough. (A program for which that is not so, `average` with resets, is searched.)
    """
    if len(inputs) == 1:
        return _fold(program, state, inputs[0], output)
    try:
        return _several(program, state, inputs, output)
    except TooWide:
        return None


def _fold(program: Program[Any], state: Any, events: Segment, output: Segment) -> Ordering | NoOrdering:
    """Decide for a single input, which has one order."""
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
            return _distinct(program, state, inputs, output)
        case Average() | Batch() if all(isinstance(event, int) for events in inputs for event in events):
            return by_sum(program, state, inputs, output)
    return None


def _distinct(
    program: Distinct, state: Any, inputs: Sequence[Segment], output: Segment
) -> Ordering | NoOrdering | None:
    """
    Decide for `distinct`, where there is no choice to make.

    What has been seen is what has been shown (and what was seen before the epoch), in every order of the inputs. So an
    event already seen shows nothing and changes nothing, now or later, and can be taken at once; of two inputs that
    both offer the next value to be shown, either may be taken, as the other one's is then seen and goes at once too.
    With text, which is shown every time, there may be a choice, and the search takes over.
    """
    at = [0] * len(inputs)
    order: list[int] = []

    def skip_what_is_seen() -> None:
        for port, events in enumerate(inputs):
            while at[port] < len(events) and isinstance(events[at[port]], int) and events[at[port]] in state:
                at[port] += 1
                order.append(port)

    skip_what_is_seen()
    for position, shown in enumerate(output):
        offering = [port for port, events in enumerate(inputs) if at[port] < len(events)]
        fitting = [port for port in offering if inputs[port][at[port]] == shown]
        if not fitting:
            return NoOrdering(position, in_order(inputs[port][at[port]] for port in offering))
        if isinstance(shown, str) and len(fitting) > 1:
            return None
        order.append(fitting[0])
        at[fitting[0]] += 1
        state, _ = program(state, shown)
        skip_what_is_seen()
    untaken = in_order(events[at[port]] for port, events in enumerate(inputs) if at[port] < len(events))
    return NoOrdering(len(output), untaken) if untaken else Ordering(tuple(order), state)
