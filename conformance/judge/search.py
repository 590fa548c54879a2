"""
The general search: tasks that share streams nobody observed, or programs that no short cut fits.

It is a depth-first walk through the failure-free executions of these tasks, cut off as soon as an observed output would
show something else than was seen. Configurations are visited once. Of all tasks that could move, only one is followed
at a time: the one furthest downstream whose every input either offers a message or will never offer another. What such
a task can do next does not depend on the others, so its steps form a persistent set, and nothing is missed (see
`model.explore`); and going downstream first means that a wrong choice upstream is noticed as soon as it shows.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from attrs import define, field, frozen

from conformance.judge.budget import Budget
from conformance.programs import Event, Program

Tagged: TypeAlias = tuple[int, Event]
"""An event and the epoch it belongs to."""


@frozen
class Piece:
    """
    One task in the search: what it reads, each input either known or made by another piece (its number), and what was
    observed of its output. `ends` says how much of that belongs to epochs up to each; where it ends, nothing more was
    observed, and if that is before the last epoch, the output is `hidden`: what follows is free, and kept for whoever
    reads it. A piece that `finishes` leaves nothing untaken behind its last border.
    """

    name: str
    program: Program[Any]
    inputs: tuple["tuple[Tagged, ...] | int", ...]
    output: tuple[Event, ...]
    ends: tuple[int, ...]
    hidden: bool
    finishes: bool = True


@frozen
class Found:
    """One way to explain everything: for each piece its order of inputs, epoch by epoch, and the state it leaves."""

    orders: tuple[tuple[tuple[int, ...], ...], ...]
    states: tuple[Any, ...]


@define
class Furthest:
    """How far any way got before it showed something else than was seen: the place to explain to a user."""

    score: int = -1
    piece: int = 0
    position: int = 0
    expected: set[Event] = field(factory=set)

    def note(self, score: int, piece: int, position: int, expected: Sequence[Event]) -> None:
        """One more dead end."""
        if score > self.score:
            self.score, self.piece, self.position, self.expected = score, piece, position, set()
        if (score, piece, position) == (self.score, self.piece, self.position):
            self.expected.update(expected[:1])


class _Node(NamedTuple):
    """Where each piece stands: positions in its inputs, its epoch, what it has shown (how much, or what), its state."""

    at: tuple[tuple[int, ...], ...]
    epochs: tuple[int, ...]
    made: tuple[Any, ...]
    states: tuple[Any, ...]


BORDER = -1
"""Stands for the border step among the inputs of a piece."""


@define
class Search:
    """
    The ways in which these pieces, in topological order, explain what was observed of `epochs` epochs.

    Aligned, a piece takes events of its own epoch only and passes a border when it has taken all of them. Unaligned, it
    may leave events for a later epoch: it takes events of any epoch up to its own, and passes a border whenever it has
    shown what belongs before it. (The argument above holds there too: whether it may pass depends on its own heads and
    on what it has shown, and on nobody else.) What goes `early` may take events of later epochs as well: no execution
    does, but some engines do, and it is worth knowing that it was that.
    """

    pieces: Sequence[Piece]
    epochs: int
    budget: Budget
    furthest: Furthest
    aligned: bool = True
    early: bool = False

    def ways(self, states: tuple[Any, ...]) -> Iterator[Found]:
        """Every way that differs in the states it leaves, one after the other."""
        start = _Node(
            at=tuple((0,) * len(piece.inputs) for piece in self.pieces),
            epochs=(1,) * len(self.pieces),
            made=tuple(() if piece.hidden else 0 for piece in self.pieces),
            states=states,
        )
        came: dict[_Node, tuple[_Node, int, int] | None] = {start: None}
        left: set[tuple[Any, ...]] = set()
        stack = [start]
        while stack:
            node = stack.pop()
            piece = self._next(node)
            if piece is None:
                if node.states not in left:
                    left.add(node.states)
                    yield Found(self._orders(came, node), node.states)
                continue
            for which, after in self._moves(node, piece):
                self.budget.spend()
                if after not in came:
                    came[after] = (node, piece, which)
                    stack.append(after)

    def _next(self, node: _Node) -> int | None:
        """The piece to follow; None when all have passed their last border."""
        for number in range(len(self.pieces) - 1, -1, -1):
            if node.epochs[number] <= self.epochs and all(
                node.at[number][which] < len(self._input(node, number, which)) or self._is_closed(node, number, which)
                for which in range(len(self.pieces[number].inputs))
            ):
                return number
        return None

    def _input(self, node: _Node, number: int, which: int) -> Sequence[Tagged]:
        source = self.pieces[number].inputs[which]
        made: Sequence[Tagged] = node.made[source] if isinstance(source, int) else source
        return made

    def _is_closed(self, node: _Node, number: int, which: int) -> bool:
        source = self.pieces[number].inputs[which]
        return not isinstance(source, int) or node.epochs[source] > self.epochs

    def _moves(self, node: _Node, number: int) -> Iterator[tuple[int, _Node]]:
        piece, epoch = self.pieces[number], node.epochs[number]
        heads = [
            events[at] if at < len(events) else None
            for at, events in ((node.at[number][w], self._input(node, number, w)) for w in range(len(piece.inputs)))
        ]
        if self._may_pass(piece, heads, epoch):
            made = self._how_much(node, number)
            if epoch > len(piece.ends) or made == piece.ends[epoch - 1]:
                yield BORDER, node._replace(epochs=_with(node.epochs, number, epoch + 1))
            else:
                self.furthest.note(self._score(node), number, made, ())
        for which, head in enumerate(heads):
            if head is not None and (self.early or head[0] <= epoch):
                after = self._take(node, number, which, head[1], epoch)
                if after is not None:
                    yield which, after

    def _may_pass(self, piece: Piece, heads: Sequence[Tagged | None], epoch: int) -> bool:
        if self.aligned:
            return all(head is None or head[0] > epoch for head in heads)
        return epoch < self.epochs or not piece.finishes or all(head is None for head in heads)

    def _how_much(self, node: _Node, number: int) -> int:
        made = node.made[number]
        return len(made) if self.pieces[number].hidden else made

    def _take(self, node: _Node, number: int, which: int, event: Event, epoch: int) -> _Node | None:
        piece = self.pieces[number]
        state, outputs = piece.program(node.states[number], event)
        made = self._how_much(node, number)
        if epoch <= len(piece.ends):
            for place, output in enumerate(outputs, start=made):
                if place == piece.ends[epoch - 1] or piece.output[place] != output:
                    self.furthest.note(self._score(node), number, place, (output,))
                    return None
        grown = node.made[number] + tuple((epoch, each) for each in outputs) if piece.hidden else made + len(outputs)
        at = _with(node.at[number], which, node.at[number][which] + 1)
        return _Node(
            _with(node.at, number, at), node.epochs, _with(node.made, number, grown), _with(node.states, number, state)
        )

    def _score(self, node: _Node) -> int:
        """How much of what was observed is explained so far."""
        return sum(min(self._how_much(node, n), len(piece.output)) for n, piece in enumerate(self.pieces))

    def _orders(
        self, came: dict[_Node, tuple[_Node, int, int] | None], node: _Node
    ) -> tuple[tuple[tuple[int, ...], ...], ...]:
        orders: list[list[list[int]]] = [[[] for _ in range(self.epochs)] for _ in self.pieces]
        while (way := came[node]) is not None:
            node, number, which = way
            if which != BORDER:
                orders[number][node.epochs[number] - 1].append(which)
        return tuple(tuple(tuple(reversed(epoch)) for epoch in piece) for piece in orders)


def _with(values: tuple[Any, ...], place: int, value: Any) -> tuple[Any, ...]:
    return (*values[:place], value, *values[place + 1 :])
