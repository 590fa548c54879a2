"""
Is what was seen in the end the result of some failure-free execution?

Because borders align, the question splits. A task's output in an epoch depends on its inputs in that epoch and on the
state it had at the epoch's start, and on nothing else; and any choice of an order of inputs for each task and epoch is
a failure-free execution (run the epochs one after the other, in each the tasks in topological order). So tasks whose
inputs and outputs were all observed can be judged one by one; tasks that share a stream nobody observed are judged
together. What one epoch leaves to the next is the states, and if several are possible, each is tried.

Unaligned, the same holds for whole streams instead of epochs, with the bound that `search.Search` keeps: an event is
never taken before its own epoch. Without that bound, such an execution is one of the model for the case whose epochs
are all one, and what is observed of it, a prefix of every stream, is by the composition lemma explained by it. The
bound asks for more than the lemma does: it is what makes an engine's epochs mean anything, and the witness checks it.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, takewhile
from typing import Any, TypeAlias

from attrs import define, field, frozen

from conformance.case import Graph, Task
from conformance.judge.budget import Budget
from conformance.judge.ordering import NoOrdering, Ordering, Segment, in_order
from conformance.judge.search import Found, Furthest, Piece, Search, Tagged
from conformance.judge.task import ways
from conformance.programs import Event

Seen: TypeAlias = Mapping[str, Sequence[Segment | None]]
"""For each stream and epoch what was seen; None where nothing was, for a stream or an epoch that was not observed."""

Orders: TypeAlias = dict[str, tuple[tuple[int, ...], ...]]
"""For each task and epoch the order in which it took its inputs, by their numbers."""


@frozen
class Unexplained:
    """
    No execution shows this: the first place in the furthest attempt, what could have stood there, and the state that
    the task had at the start of the epoch in that attempt.
    """

    task: Task
    stream: str
    epoch: int
    position: int
    expected: tuple[Event, ...]
    state: Any = None


def explain(
    graph: Graph, seen: Seen, epochs: int, budget: Budget, *, aligned: bool, complete: bool, last: int | None = None
) -> Orders | list[Unexplained]:
    """
    Orders for every task that explain all of it; or for each part of the graph that has none, where it fails.

    `complete` says that everything was observed to the end; `last` which epoch is the last of the input, where that is
    known in advance.
    """
    orders: Orders = {}
    unexplained = []
    for part in parts(graph, seen):
        answer = Part(part, seen, epochs, budget, aligned, complete, last).solve()
        if isinstance(answer, Unexplained):
            unexplained.append(answer)
        else:
            orders.update(answer)
    return unexplained or orders


def parts(graph: Graph, seen: Seen) -> list[list[Task]]:
    """The tasks, in topological order, in groups that share streams which were not observed throughout."""
    groups: list[list[Task]] = []
    for task in graph.in_order:
        reads = {stream for stream in task.inputs if None in seen[stream]}
        joined = [task]
        rest = []
        for group in groups:
            if any(each.output in reads for each in group):
                joined = group + joined
            else:
                rest.append(group)
        groups = [*rest, joined]
    order = {task.name: number for number, task in enumerate(graph.in_order)}
    return [sorted(group, key=lambda task: order[task.name]) for group in groups]


@define
class Part:
    """Tasks that are judged together, over epochs that count from 1, from the states they `start` in."""

    tasks: list[Task]
    seen: Seen
    epochs: int
    budget: Budget
    aligned: bool
    complete: bool
    last: int | None
    start: tuple[Any, ...] | None = None
    furthest: tuple[int, Furthest, tuple[Any, ...]] = field(factory=lambda: (0, Furthest(), ()), init=False)

    def solve(self) -> Orders | Unexplained:
        """Epoch by epoch, going back to another way through an earlier one where a later one cannot be explained."""
        start = self.start or tuple(task.program.initial for task in self.tasks)
        if not self.aligned:
            return self._solve_unaligned(start)
        hopeless: set[tuple[int, tuple[Any, ...]]] = set()
        pending = [self._ways(1, start)]
        path: list[Found] = []
        while pending:
            found = next(pending[-1], None)
            epoch = len(pending)
            if found is None:
                pending.pop()
                if path:
                    hopeless.add((epoch, path.pop().states))
            elif (epoch + 1, found.states) not in hopeless:
                path.append(found)
                if epoch == self.epochs:
                    return self._orders(path)
                pending.append(self._ways(epoch + 1, found.states))
        return self._unexplained() if self.epochs else {task.name: () for task in self.tasks}

    def _ways(self, epoch: int, states: tuple[Any, ...]) -> Iterator[Found]:
        if epoch > self.epochs:
            return
        furthest = Furthest()
        pieces = [self._piece(task, [epoch]) for task in self.tasks]
        if (short := self._short_cut(pieces, states)) is not None:
            if isinstance(short, Ordering):
                yield Found(((short.order,),), (short.state,))
                return
            furthest.note(short.position, 0, short.position, short.expected)
            furthest.expected.update(short.expected)
        else:
            yield from Search(pieces, 1, self.budget, furthest).ways(states)
        if furthest.score >= 0 and (epoch, furthest.score) > (self.furthest[0], self.furthest[1].score):
            self.furthest = (epoch, furthest, states)

    def _short_cut(self, pieces: Sequence[Piece], states: tuple[Any, ...]) -> Ordering | NoOrdering | None:
        (piece, *others) = pieces
        if others or piece.hidden:
            return None
        inputs = [tuple(event for _, event in events) for events in piece.inputs if not isinstance(events, int)]
        self.budget.spend(len(piece.output) + 1)
        return ways(piece.program, states[0], inputs, piece.output)

    def _piece(self, task: Task, epochs: Sequence[int]) -> Piece:
        """
        A task over these epochs, which count from 1 within the search.

        Whose output was observed to the last epoch of the input has passed the last border, whatever else is missing.
        """
        makers = {each.output: number for number, each in enumerate(self.tasks)}
        inputs: list[tuple[Tagged, ...] | int] = []
        for stream in task.inputs:
            segments = [self.seen[stream][epoch - 1] for epoch in epochs]
            if any(segment is None for segment in segments):
                inputs.append(makers[stream])
            else:
                inputs.append(tuple((n, each) for n, segment in enumerate(segments, 1) for each in segment or ()))
        shown = list(takewhile(lambda segment: segment is not None, (self.seen[task.output][e - 1] for e in epochs)))
        output = tuple(each for segment in shown for each in segment or ())
        ends = tuple(accumulate(len(segment or ()) for segment in shown))
        hidden = len(ends) < len(epochs)
        finishes = self.complete or (self.last is not None and not hidden and self.epochs == self.last)
        return Piece(task.name, task.program, tuple(inputs), output, ends, hidden, finishes)

    def _solve_unaligned(self, start: tuple[Any, ...]) -> Orders | Unexplained:
        furthest = Furthest()
        pieces = [self._piece(task, range(1, self.epochs + 1)) for task in self.tasks]
        search = Search(pieces, self.epochs, self.budget, furthest, aligned=False)
        for found in search.ways(start):
            return {task.name: order for task, order in zip(self.tasks, found.orders, strict=True)}
        task, ends = self.tasks[furthest.piece], pieces[furthest.piece].ends
        epoch = next((n for n, end in enumerate(ends, start=1) if furthest.position < end), self.epochs)
        before = ends[epoch - 2] if epoch > 1 else 0
        expected = in_order(furthest.expected)
        return Unexplained(task, task.output, epoch, furthest.position - before, expected, start[furthest.piece])

    def _orders(self, path: Sequence[Found]) -> Orders:
        return {task.name: tuple(found.orders[number][0] for found in path) for number, task in enumerate(self.tasks)}

    def _unexplained(self) -> Unexplained:
        epoch, furthest, states = self.furthest
        task, state = self.tasks[furthest.piece], states[furthest.piece]
        return Unexplained(task, task.output, epoch, furthest.position, in_order(furthest.expected), state)
