"""
The general search: tasks that share unobserved streams, and programs that no short cut fits.

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
class SearchTask:
    """
    One task of the search, with what is known of its inputs and what was observed of its output.

    An input is either known, or the output of another task of the search, given by its number. `ends` has, for each
    observed epoch, the number of output events up to its end. If the last epochs were not observed, the output is
    `hidden`: what the task emits there is compared with nothing, and kept for the tasks that read it. A task that
    `finishes` has taken all of its input when it passes its last border.
    """

    name: str
    program: Program[Any]
    inputs: tuple["tuple[Tagged, ...] | int", ...]
    output: tuple[Event, ...]
    ends: tuple[int, ...]
    hidden: bool
    finishes: bool = True


@frozen
class JointOrdering:
    """An ordering of every task that explains all of them: for each its order, epoch by epoch, and its end state."""

    orders: tuple[tuple[tuple[int, ...], ...], ...]
    states: tuple[Any, ...]


@define
class Furthest:
    """The furthest place that any ordering reached before it showed something else: the place to explain to a user."""

    score: int = -1
    task: int = 0
    position: int = 0
    expected: set[Event] = field(factory=set)

    def note(self, score: int, task: int, position: int, expected: Sequence[Event]) -> None:
        """Record a dead end: the task by number, and what it would have shown at that position."""
        if score > self.score:
            self.score, self.task, self.position, self.expected = score, task, position, set()
        if (score, task, position) == (self.score, self.task, self.position):
            self.expected.update(expected[:1])


class _Node(NamedTuple):
    """Where each task stands: positions in its inputs, its epoch, what it has shown (how much, or what), its state."""

    at: tuple[tuple[int, ...], ...]
    epochs: tuple[int, ...]
    made: tuple[Any, ...]
    states: tuple[Any, ...]


BORDER_STEP = -1
"""Stands for the border step among the inputs of a task."""


@define
class Search:
    """
    The search for orderings of these tasks, in topological order, that explain what was observed of `epochs` epochs.

    Aligned, a task takes events of its own epoch only and passes a border when it has taken all of them. Unaligned, it
    may leave events for a later epoch: it takes events of any epoch up to its own, and passes a border whenever it has
    shown what belongs before it. (The argument above holds there too: whether it may pass depends on its own heads and
    on what it has shown, and on no other task.) With `early` it may take events of later epochs as well: no execution
    of the model does, but some engines do, and a diagnosis asks for it.
    """

    tasks: Sequence[SearchTask]
    epochs: int
    budget: Budget
    furthest: Furthest
    aligned: bool = True
    early: bool = False

    def orderings(self, states: tuple[Any, ...]) -> Iterator[JointOrdering]:
        """Find an ordering for each combination of end states, one after the other."""
        start = _Node(
            at=tuple((0,) * len(task.inputs) for task in self.tasks),
            epochs=(1,) * len(self.tasks),
            made=tuple(() if task.hidden else 0 for task in self.tasks),
            states=states,
        )
        reached_by: dict[_Node, tuple[_Node, int, int] | None] = {start: None}
        ends: set[tuple[Any, ...]] = set()
        stack = [start]
        while stack:
            node = stack.pop()
            number = self._next(node)
            if number is None:
                if node.states not in ends:
                    ends.add(node.states)
                    yield JointOrdering(self._orders(reached_by, node), node.states)
                continue
            for port, after in self._moves(node, number):
                self.budget.spend()
                if after not in reached_by:
                    reached_by[after] = (node, number, port)
                    stack.append(after)

    def _next(self, node: _Node) -> int | None:
        """Choose the task to follow, by number; None when all have passed their last border."""
        for number in range(len(self.tasks) - 1, -1, -1):
            if node.epochs[number] <= self.epochs and all(
                node.at[number][port] < len(self._input(node, number, port)) or self._is_closed(node, number, port)
                for port in range(len(self.tasks[number].inputs))
            ):
                return number
        return None

    def _input(self, node: _Node, number: int, port: int) -> Sequence[Tagged]:
        source = self.tasks[number].inputs[port]
        made: Sequence[Tagged] = node.made[source] if isinstance(source, int) else source
        return made

    def _is_closed(self, node: _Node, number: int, port: int) -> bool:
        source = self.tasks[number].inputs[port]
        return not isinstance(source, int) or node.epochs[source] > self.epochs

    def _moves(self, node: _Node, number: int) -> Iterator[tuple[int, _Node]]:
        task, epoch = self.tasks[number], node.epochs[number]
        heads = [
            events[at] if at < len(events) else None
            for at, events in ((node.at[number][w], self._input(node, number, w)) for w in range(len(task.inputs)))
        ]
        if self._may_pass(task, heads, epoch):
            made = self._shown(node, number)
            if epoch > len(task.ends) or made == task.ends[epoch - 1]:
                yield BORDER_STEP, node._replace(epochs=_with(node.epochs, number, epoch + 1))
            else:
                self.furthest.note(self._score(node), number, made, ())
        for port, head in enumerate(heads):
            if head is not None and (self.early or head[0] <= epoch):
                after = self._take_event(node, number, port, head[1], epoch)
                if after is not None:
                    yield port, after

    def _may_pass(self, task: SearchTask, heads: Sequence[Tagged | None], epoch: int) -> bool:
        if self.aligned:
            return all(head is None or head[0] > epoch for head in heads)
        return epoch < self.epochs or not task.finishes or all(head is None for head in heads)

    def _shown(self, node: _Node, number: int) -> int:
        """Count the events that a task has shown so far."""
        made = node.made[number]
        return len(made) if self.tasks[number].hidden else made

    def _take_event(self, node: _Node, number: int, port: int, event: Event, epoch: int) -> _Node | None:
        task = self.tasks[number]
        state, outputs = task.program(node.states[number], event)
        made = self._shown(node, number)
        if epoch <= len(task.ends):
            for place, output in enumerate(outputs, start=made):
                if place == task.ends[epoch - 1] or task.output[place] != output:
                    self.furthest.note(self._score(node), number, place, (output,))
                    return None
        grown = node.made[number] + tuple((epoch, each) for each in outputs) if task.hidden else made + len(outputs)
        at = _with(node.at[number], port, node.at[number][port] + 1)
        return _Node(
            _with(node.at, number, at), node.epochs, _with(node.made, number, grown), _with(node.states, number, state)
        )

    def _score(self, node: _Node) -> int:
        """Count the observed events that are explained so far."""
        return sum(min(self._shown(node, n), len(task.output)) for n, task in enumerate(self.tasks))

    def _orders(
        self, reached_by: dict[_Node, tuple[_Node, int, int] | None], node: _Node
    ) -> tuple[tuple[tuple[int, ...], ...], ...]:
        orders: list[list[list[int]]] = [[[] for _ in range(self.epochs)] for _ in self.tasks]
        while (last := reached_by[node]) is not None:
            node, number, port = last
            if port != BORDER_STEP:
                orders[number][node.epochs[number] - 1].append(port)
        return tuple(tuple(tuple(reversed(epoch)) for epoch in task) for task in orders)


def _with(values: tuple[Any, ...], place: int, value: Any) -> tuple[Any, ...]:
    return (*values[:place], value, *values[place + 1 :])
