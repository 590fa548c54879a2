"""The short cut by tokens: programs whose output says of each event which one it was."""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen

from conformance.judge.lattice import Lattice
from conformance.judge.ordering import NoOrdering, Ordering, Segment, in_order
from conformance.programs import Count, Digest, Event, Filter, KeyedSum, Map, P, Program, Repeat, Sum

MOST_FORKS = 16
FEW_KEYS = 16


@frozen
class Reading:
    """
    An output, read as the tokens of the events that must have caused it.

    For each event there is its token, the position at which its part of the output begins, and the state before it.
    Reading stops where the output is wrong in every order. Then `breaks_after` counts the outputs of the next event
    that are right: with `repeat` an event has several outputs, with other programs the count is 0.
    """

    tokens: list[object]
    positions: list[int]
    states: list[Any]
    breaks_after: int | None = None


def _token(program: Program[Any]) -> Callable[[Event], object]:
    """
    Return what an event counts for when orders are compared: itself, or less if the program cannot tell events apart.

    `count` sees that there is an integer and no more, `map` sees what it becomes.
    """
    match program:
        case Count():
            return lambda event: event if isinstance(event, str) else int
        case Map():
            return lambda event: event if isinstance(event, str) else program(None, event)[1][0]
    return lambda event: event


def read(program: Program[Any], state: Any, output: Segment) -> Reading:
    """
    Read the tokens that an output must come from, one after the other, in every order of the inputs.

    `sum` and `digest` can be solved for the event: w = s' - s and w = h' - 31 h - 1, mod p, and only one event is in
    range. `count` must go up by one. `repeat` emits whole runs.
    """
    tokens: list[object] = []
    positions = [0]
    states = [state]
    while (position := positions[-1]) < len(output):
        token: object = output[position]
        size = 1
        if isinstance(token, int):
            match program:
                case Sum():
                    token, state = (token - state) % P, token
                case Digest():
                    token, state = (token - 31 * state - 1) % P, token
                case Count():
                    if token != state + 1:
                        return Reading(tokens, positions, states, breaks_after=0)
                    token, state = int, token
                case Repeat(times):
                    size = times
                    run = output[position : position + size]
                    if size == 0 or run != (token,) * size:
                        same = next((n for n, each in enumerate(run) if each != token), len(run))
                        return Reading(tokens, positions, states, breaks_after=same)
        tokens.append(token)
        positions.append(position + size)
        states.append(state)
    return Reading(tokens, positions, states)


_Taken: TypeAlias = "tuple[int, _Taken] | None"


class _Walk:
    """A walk through the lattice by tokens. Silent events, which neither show nor change anything, stay out of it."""

    def __init__(
        self, inputs: Sequence[Segment], token: Callable[[Event], object], silent: Callable[[Event], bool]
    ) -> None:
        self.inputs = inputs
        self.kept = [[place for place, event in enumerate(events) if not silent(event)] for events in inputs]
        # The last coordinate of a lattice is free of charge, so it belongs to the longest input.
        self.axes = sorted(range(len(inputs)), key=lambda port: len(self.kept[port]))
        self.codes: dict[object, int] = {}
        self.rows = [
            np.array([self._code(token(inputs[port][place])) for place in self.kept[port]] + [-1], dtype=np.int64)
            for port in self.axes
        ]
        self.lattice = Lattice([len(self.kept[port]) for port in self.axes])
        self.taken: _Taken = None

    def _code(self, token: object) -> int:
        return self.codes.setdefault((type(token), token), len(self.codes))

    def fork(self) -> "_Walk":
        """Copy the walk, for one that goes on differently."""
        other = copy(self)
        other.lattice = self.lattice.fork()
        return other

    def knows(self, token: object) -> bool:
        """Say whether any event has this token."""
        return (type(token), token) in self.codes

    def take_token(self, token: object) -> bool:
        """Take an event with this token, in every way there is; False if there is none to take."""
        code = self.codes.get((type(token), token), -2)
        self.taken = (code, self.taken)
        return self.lattice.advance(lambda axis, positions: self.rows[axis].take(positions, mode="clip") == code)

    def heads(self) -> list[Event]:
        """List the events that could be taken next, one for each token."""
        found: dict[int, Event] = {}
        for axis, positions in enumerate(self.lattice.coordinates()):
            at = np.unique(np.broadcast_to(positions, self.lattice.reach.shape)[self.lattice.reach])
            for position in at[at < len(self.rows[axis]) - 1]:
                port = self.axes[axis]
                found.setdefault(int(self.rows[axis][position]), self.inputs[port][self.kept[port][position]])
        return list(found.values())

    def is_done(self) -> bool:
        return self.lattice.at_the_end()

    def order(self) -> tuple[int, ...]:
        """Return one order that was found, with the silent events put in where they come to stand."""
        codes = []
        taken = self.taken
        while taken is not None:
            code, taken = taken
            codes.append(code)
        codes.reverse()
        steps = self.lattice.order(lambda step, axis, position: bool(self.rows[axis][position] == codes[step]))
        order: list[int] = []
        passed = [0] * len(self.inputs)
        at = [0] * len(self.inputs)
        for axis in steps:
            port = self.axes[axis]
            place = self.kept[port][passed[port]] + 1
            order += [port] * (place - at[port])
            passed[port] += 1
            at[port] = place
        for port, events in enumerate(self.inputs):
            order += [port] * (len(events) - at[port])
        return tuple(order)


def _outputs(program: Program[Any], state: Any, events: Iterable[Event]) -> tuple[Event, ...]:
    """List what could be shown next: the first output of each event, each once."""
    return in_order(emitted[0] for event in events if (emitted := program(state, event)[1]))


def by_token(program: Program[Any], state: Any, inputs: Sequence[Segment], output: Segment) -> Ordering | NoOrdering:
    """
    Decide for programs whose output says of each event which one it was, as far as they can tell events apart.

    An order explains the output iff the tokens of the events, in that order and without the silent ones, are those read
    off the output: the program emits for one event after the other, and what it emits depends on the event's token and
    on the state, which the output so far determines. So the question is whether one sequence of tokens is a
    shuffle of others, and a point of the lattice decides by itself which token may come next.
    """
    reading = read(program, state, output)
    stateless = isinstance(program, Filter | Repeat)
    walk = _Walk(inputs, _token(program), lambda event: stateless and not program(None, event)[1])
    for index, token in enumerate(reading.tokens):
        if not walk.take_token(token):
            return NoOrdering(reading.positions[index], _outputs(program, reading.states[index], walk.heads()))
    position, state = reading.positions[-1], reading.states[-1]
    if reading.breaks_after and walk.take_token(output[position]):
        return NoOrdering(position + reading.breaks_after, (output[position],))
    if reading.breaks_after is not None or not walk.is_done():
        return NoOrdering(position, _outputs(program, state, walk.heads()))
    return Ordering(walk.order(), state)


def keyed(program: KeyedSum, state: Any, inputs: Sequence[Segment], output: Segment) -> Ordering | NoOrdering | None:
    """
    Decide for `keyed_sum`: an output does not say which key it belongs to, but for each key it says which event it was.

    All points of a walk have taken the same events, so the sums are the same at all of them, and for every event that
    could come next and fits the output there is one walk by tokens that goes on with it. Walks fork rarely: two
    different events must fit at once. Where they fork too often, the search takes over.
    """
    walks = [(state, _Walk(inputs, lambda event: event, lambda _: False))]
    for position, shown in enumerate(output):
        following = []
        for sums, walk in walks:
            for event in _fitting(program, sums, shown, walk):
                other = walk.fork()
                if other.take_token(event):
                    following.append((program(sums, event)[0], other))
        if not following:
            return NoOrdering(position, _keyed_outputs(program, walks))
        if len(following) > MOST_FORKS:
            return None
        walks = following
    for sums, walk in walks:
        if walk.is_done():
            return Ordering(walk.order(), sums)
    return NoOrdering(len(output), _keyed_outputs(program, walks))


def _keyed_outputs(program: KeyedSum, walks: Sequence[tuple[Any, _Walk]]) -> tuple[Event, ...]:
    return in_order(each for sums, walk in walks for each in _outputs(program, sums, walk.heads()))


def _fitting(program: KeyedSum, sums: Any, shown: Event, walk: _Walk) -> list[Event]:
    """Find the events that show this with these sums: solved for each key, or, of many keys, among those to come."""
    if isinstance(shown, str):
        return [shown]
    if program.keys > FEW_KEYS:
        return [head for head in walk.heads() if program(sums, head)[1] == (shown,)]
    solved = ((key, (shown - sums.get(key, 0)) % P) for key in range(program.keys))
    return [event for key, event in solved if event % program.keys == key and walk.knows(event)]
