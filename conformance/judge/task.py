"""
One task, one epoch, everything observed: which orders of its inputs give its output?

Every program has a way of its own here, because every program lets us conclude something from its output. Each way says
in its docstring why it misses no order and invents none. What none of them handles (text in a batch, resets, more
inputs than a lattice can hold) is left to the general search, by returning None.
"""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen

from conformance.judge.lattice import Lattice, Mask, Numbers, TooWide
from conformance.programs import (
    Average,
    Batch,
    Count,
    Digest,
    Distinct,
    Event,
    Filter,
    KeyedSum,
    Map,
    P,
    Program,
    Repeat,
    Sum,
)

Segment: TypeAlias = tuple[Event, ...]

MOST_FORKS = 16
FEW_KEYS = 16


@frozen
class Way:
    """An order that explains the output: which input is taken at each step, and the state it leaves."""

    order: tuple[int, ...]
    state: Any


@frozen
class Stuck:
    """No order explains the output: how much of it some order explains, and what could have come next."""

    position: int
    expected: tuple[Event, ...] = ()


def ways(program: Program[Any], state: Any, inputs: Sequence[Segment], output: Segment) -> Way | Stuck | None:
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


def _fold(program: Program[Any], state: Any, events: Segment, output: Segment) -> Way | Stuck:
    """One input has one order."""
    position = 0
    for event in events:
        state, emitted = program(state, event)
        for each in emitted:
            if position == len(output) or output[position] != each or type(output[position]) is not type(each):
                return Stuck(position, (each,))
            position += 1
    return Way((0,) * len(events), state) if position == len(output) else Stuck(position)


def _several(program: Program[Any], state: Any, inputs: Sequence[Segment], output: Segment) -> Way | Stuck | None:
    match program:
        case Map() | Filter() | Repeat() | Sum() | Count() | Digest():
            return _by_token(program, state, inputs, output)
        case KeyedSum():
            return _keyed(program, state, inputs, output)
        case Distinct():
            return _first_come(program, state, inputs, output)
        case Average() | Batch() if all(isinstance(event, int) for events in inputs for event in events):
            return _by_sum(program, state, inputs, output)
    return None


@frozen
class _Reading:
    """
    An output, read backwards: for each event that must have caused a part of it, its token, where that part begins,
    and the state before it.

    If the output goes wrong whatever the order, it is read up to there, and `breaks_after` is how much of a part it
    shows of the event that would come next: more than nothing only for `repeat`.
    """

    tokens: list[object]
    positions: list[int]
    states: list[Any]
    breaks_after: int | None = None


def _token(program: Program[Any]) -> Callable[[Event], object]:
    """
    What an event counts for when orders are compared: itself, or less where the program cannot tell events apart.

    `count` sees that there is an integer and no more, `map` sees what it becomes.
    """
    match program:
        case Count():
            return lambda event: event if isinstance(event, str) else int
        case Map():
            return lambda event: event if isinstance(event, str) else program(None, event)[1][0]
    return lambda event: event


def _read(program: Program[Any], state: Any, output: Segment) -> _Reading:
    """
    The tokens that an output must come from, one after the other, whatever the order of the inputs.

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
                        return _Reading(tokens, positions, states, breaks_after=0)
                    token, state = int, token
                case Repeat(times):
                    size = times
                    run = output[position : position + size]
                    if size == 0 or run != (token,) * size:
                        same = next((n for n, each in enumerate(run) if each != token), len(run))
                        return _Reading(tokens, positions, states, breaks_after=same)
        tokens.append(token)
        positions.append(position + size)
        states.append(state)
    return _Reading(tokens, positions, states)


_Taken: TypeAlias = "tuple[int, _Taken] | None"


class _Walk:
    """A walk through the lattice by tokens. Silent events, which neither show nor change anything, stay out of it."""

    def __init__(
        self, inputs: Sequence[Segment], token: Callable[[Event], object], silent: Callable[[Event], bool]
    ) -> None:
        self.inputs = inputs
        self.kept = [[place for place, event in enumerate(events) if not silent(event)] for events in inputs]
        # The last coordinate of a lattice is free of charge, so it belongs to the longest input.
        self.axes = sorted(range(len(inputs)), key=lambda which: len(self.kept[which]))
        self.codes: dict[object, int] = {}
        self.rows = [
            np.array([self._code(token(inputs[which][place])) for place in self.kept[which]] + [-1], dtype=np.int64)
            for which in self.axes
        ]
        self.lattice = Lattice([len(self.kept[which]) for which in self.axes])
        self.taken: _Taken = None

    def _code(self, token: object) -> int:
        return self.codes.setdefault((type(token), token), len(self.codes))

    def fork(self) -> "_Walk":
        """The same, to go on another way."""
        other = copy(self)
        other.lattice = self.lattice.fork()
        return other

    def knows(self, token: object) -> bool:
        """Whether any event has this token."""
        return (type(token), token) in self.codes

    def take(self, token: object) -> bool:
        """Take an event with this token, in every way there is."""
        code = self.codes.get((type(token), token), -2)
        self.taken = (code, self.taken)
        return self.lattice.advance(lambda axis, positions: self.rows[axis].take(positions, mode="clip") == code)

    def heads(self) -> list[Event]:
        """The events that could be taken next, each kind once."""
        found: dict[int, Event] = {}
        for axis, positions in enumerate(self.lattice.coordinates()):
            at = np.unique(np.broadcast_to(positions, self.lattice.reach.shape)[self.lattice.reach])
            for position in at[at < len(self.rows[axis]) - 1]:
                which = self.axes[axis]
                found.setdefault(int(self.rows[axis][position]), self.inputs[which][self.kept[which][position]])
        return list(found.values())

    def is_done(self) -> bool:
        return self.lattice.at_the_end()

    def order(self) -> tuple[int, ...]:
        """One way that was found, with the silent events put in where they come to stand."""
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
            which = self.axes[axis]
            place = self.kept[which][passed[which]] + 1
            order += [which] * (place - at[which])
            passed[which] += 1
            at[which] = place
        for which, events in enumerate(self.inputs):
            order += [which] * (len(events) - at[which])
        return tuple(order)


def _outputs(program: Program[Any], state: Any, events: Iterable[Event]) -> tuple[Event, ...]:
    """What could come next: the first output of each event, each kind once."""
    return _sorted(emitted[0] for event in events if (emitted := program(state, event)[1]))


def _sorted(events: Iterable[Event]) -> tuple[Event, ...]:
    return tuple(sorted(set(events), key=lambda event: (isinstance(event, str), event)))


def _by_token(program: Program[Any], state: Any, inputs: Sequence[Segment], output: Segment) -> Way | Stuck:
    """
    Programs whose output says of each event which one it was, as far as they can tell events apart.

    An order explains the output iff the tokens of the events, in that order and without the silent ones, are those read
    off the output: the program emits for one event after the other, and what it emits depends on the event's token and
    on the state, which the output so far determines. So the question is whether one sequence of tokens is a
    shuffle of others, and a point of the lattice decides by itself which token may come next.
    """
    reading = _read(program, state, output)
    stateless = isinstance(program, Filter | Repeat)
    walk = _Walk(inputs, _token(program), lambda event: stateless and not program(None, event)[1])
    for index, token in enumerate(reading.tokens):
        if not walk.take(token):
            return Stuck(reading.positions[index], _outputs(program, reading.states[index], walk.heads()))
    position, state = reading.positions[-1], reading.states[-1]
    if reading.breaks_after and walk.take(output[position]):
        return Stuck(position + reading.breaks_after, (output[position],))
    if reading.breaks_after is not None or not walk.is_done():
        return Stuck(position, _outputs(program, state, walk.heads()))
    return Way(walk.order(), state)


def _keyed(program: KeyedSum, state: Any, inputs: Sequence[Segment], output: Segment) -> Way | Stuck | None:
    """
    `keyed_sum`: an output alone does not say which key it belongs to, but for each key it says which event it was.

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
                if other.take(event):
                    following.append((program(sums, event)[0], other))
        if not following:
            return Stuck(
                position, _sorted(each for sums, walk in walks for each in _outputs(program, sums, walk.heads()))
            )
        if len(following) > MOST_FORKS:
            return None
        walks = following
    for sums, walk in walks:
        if walk.is_done():
            return Way(walk.order(), sums)
    return Stuck(len(output), _next_of(program, walks))


def _next_of(program: KeyedSum, walks: Sequence[tuple[Any, _Walk]]) -> tuple[Event, ...]:
    return _sorted(each for sums, walk in walks for each in _outputs(program, sums, walk.heads()))


def _fitting(program: KeyedSum, sums: Any, shown: Event, walk: _Walk) -> list[Event]:
    """The events that show this with these sums; from the output if there are few keys, else from what could come."""
    if isinstance(shown, str):
        return [shown]
    if program.keys > FEW_KEYS:
        return [head for head in walk.heads() if program(sums, head)[1] == (shown,)]
    solved = ((key, (shown - sums.get(key, 0)) % P) for key in range(program.keys))
    return [event for key, event in solved if event % program.keys == key and walk.knows(event)]


def _first_come(program: Distinct, state: Any, inputs: Sequence[Segment], output: Segment) -> Way | Stuck | None:
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
            return Stuck(position, _sorted(inputs[which][at[which]] for which in offering))
        if isinstance(shown, str) and len(fitting) > 1:
            return None
        order.append(fitting[0])
        at[fitting[0]] += 1
        state, _ = program(state, shown)
        skip_what_is_seen()
    left = _sorted(events[at[which]] for which, events in enumerate(inputs) if at[which] < len(events))
    return Stuck(len(output), left) if left else Way(tuple(order), state)


def _by_sum(program: Average | Batch, state: Any, inputs: Sequence[Segment], output: Segment) -> Way | Stuck:
    """
    `average` without resets, and `batch` of integers: what they show depends on how much has been taken and on its sum,
    and so on the point of the lattice alone.

    An average shows (s + sum) // (c + n) after n events. A batch shows something after each `size`-th event: what was
    gathered since it last did, which is all that was taken (and held before) less all that was shown, mod p.
    """
    assert all(isinstance(each, int) for events in inputs for each in events)  # noqa: S101 - the caller's promise
    axes = sorted(range(len(inputs)), key=lambda which: len(inputs[which]))
    sums = [np.concatenate([[0], np.cumsum(np.array(inputs[which], dtype=np.int64))]) for which in axes]
    lattice = Lattice([len(inputs[which]) for which in axes])
    held, total = (state[1], state[0]) if isinstance(program, Average) else state
    shown = already = 0
    for taken in range(1, sum(lattice.lengths) + 1):
        test: Callable[[Numbers], Mask] | None = None
        if isinstance(program, Average) or (held + taken) % program.size == 0:
            value = output[shown] if shown < len(output) else None
            if not isinstance(value, int):
                return Stuck(shown, _sums_shown(program, lattice, sums, total, held + taken, already))
            test = _shows(program, value, held + taken, already)
        if not lattice.advance(_anything, None if test is None else _standing(test, sums, total)):
            return Stuck(shown, _sums_shown(program, lattice, sums, total, held + taken, already))
        if test is not None:
            already = (already + int(output[shown])) % P
            shown += 1
    if shown < len(output):
        return Stuck(shown)
    everything = total + sum(int(each[-1]) for each in sums)
    end = (everything, held + sum(lattice.lengths))
    if isinstance(program, Batch):
        end = ((held + sum(lattice.lengths)) % program.size, (everything - already) % P)
        end = (end[0], end[1] if end[0] else 0)
    order = tuple(axes[axis] for axis in lattice.order(lambda *_: True))
    return Way(order, end)


def _anything(_: int, positions: Numbers) -> Mask:
    return np.ones_like(positions, dtype=np.bool_)


def _standing(test: Callable[[Numbers], Mask], sums: Sequence[Numbers], total: int) -> Callable[[list[Numbers]], Mask]:
    return lambda coordinates: test(_totals(sums, coordinates, total))


def _totals(sums: Sequence[Numbers], coordinates: list[Numbers], total: int) -> Numbers:
    taken = [row.take(at, mode="clip") for row, at in zip(sums, coordinates, strict=True)]
    return np.asarray(total + sum(taken))


def _shows(program: Average | Batch, value: int, count: int, already: int) -> Callable[[Numbers], Mask]:
    if isinstance(program, Average):
        return lambda totals: (totals >= value * count) & (totals < (value + 1) * count)
    return lambda totals: (totals - already) % P == value


def _sums_shown(
    program: Average | Batch, lattice: Lattice, sums: Sequence[Numbers], total: int, count: int, already: int
) -> tuple[Event, ...]:
    """What could have been shown after the next event."""
    if isinstance(program, Batch) and count % program.size:
        return ()
    found: set[int] = set()
    for axis in range(len(sums)):
        coordinates = lattice.coordinates()
        ahead = np.minimum(coordinates[axis] + 1, lattice.lengths[axis])
        possible = lattice.reach & (coordinates[axis] < lattice.lengths[axis])
        coordinates[axis] = ahead
        totals = _totals(sums, coordinates, total)
        values = np.broadcast_to(totals, lattice.reach.shape)[possible]
        found.update(
            int(v) for v in np.unique(values // count if isinstance(program, Average) else (values - already) % P)[:8]
        )
    return _sorted(found)
