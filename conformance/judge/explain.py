"""
Explain the last observation: find a failure-free execution that results in it.

Because borders align, the question splits. A task's output in an epoch depends on its inputs in that epoch and on the
state it had at the epoch's start, and on nothing else; and any choice of an order of inputs for each task and epoch is
a failure-free execution (run the epochs one after the other, in each the tasks in topological order). So tasks whose
inputs and outputs were all observed can be judged one by one; tasks that share an unobserved stream are judged
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
from conformance.judge.search import Furthest, JointOrdering, Search, SearchTask, Tagged
from conformance.judge.task import find_ordering
from conformance.programs import Event

StreamSegments: TypeAlias = Mapping[str, Sequence[Segment | None]]
"""For each stream and epoch its observed events; None for a stream or an epoch that was not observed."""

Orders: TypeAlias = dict[str, tuple[tuple[int, ...], ...]]
"""For each task and epoch the order in which it took its inputs, by their numbers."""


@frozen
class Unexplained:
    """
    An output that no execution shows.

    It is given by the first wrong place in the furthest attempt, what could have stood there, and the state that the
    task had at the start of the epoch in that attempt.
    """

    task: Task
    stream: str
    epoch: int
    position: int
    expected: tuple[Event, ...]
    state: Any = None


def explain(
    graph: Graph,
    segments: StreamSegments,
    epochs: int,
    budget: Budget,
    *,
    aligned: bool,
    complete: bool,
    last: int | None = None,
) -> Orders | list[Unexplained]:
    """
    Return orders that explain every task, or, for each unexplained group, where it fails.

    `complete` says that all epochs were observed; `last` is the last epoch of the input, if it is known in advance.
    """
    orders: Orders = {}
    unexplained = []
    for tasks in task_groups(graph, segments):
        answer = TaskGroup(tasks, segments, epochs, budget, aligned, complete, last).solve()
        if isinstance(answer, Unexplained):
            unexplained.append(answer)
        else:
            orders.update(answer)
    return unexplained or orders


def task_groups(graph: Graph, segments: StreamSegments) -> list[list[Task]]:
    """Group the tasks, in topological order, by the streams they share that were not observed throughout."""
    groups: list[list[Task]] = []
    for task in graph.in_order:
        reads = {stream for stream in task.inputs if None in segments[stream]}
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
class TaskGroup:
    """The tasks that are judged together, over epochs that count from 1, from the states they `start` in."""

    tasks: list[Task]
    segments: StreamSegments
    epochs: int
    budget: Budget
    aligned: bool
    complete: bool
    last: int | None
    start: tuple[Any, ...] | None = None
    furthest: tuple[int, Furthest, tuple[Any, ...]] = field(factory=lambda: (0, Furthest(), ()), init=False)

    def solve(self) -> Orders | Unexplained:
        """Explain epoch by epoch; where one has no ordering, go back to another ordering of an earlier one."""
        start = self.start or tuple(task.program.initial for task in self.tasks)
        if not self.aligned:
            return self._solve_unaligned(start)
        hopeless: set[tuple[int, tuple[Any, ...]]] = set()
        pending = [self._orderings(1, start)]
        path: list[JointOrdering] = []
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
                pending.append(self._orderings(epoch + 1, found.states))
        return self._unexplained() if self.epochs else {task.name: () for task in self.tasks}

    def _orderings(self, epoch: int, states: tuple[Any, ...]) -> Iterator[JointOrdering]:
        if epoch > self.epochs:
            return
        furthest = Furthest()
        tasks = [self._search_task(task, [epoch]) for task in self.tasks]
        if (short := self._short_cut(tasks, states)) is not None:
            if isinstance(short, Ordering):
                yield JointOrdering(((short.order,),), (short.state,))
                return
            furthest.note(short.position, 0, short.position, short.expected)
            furthest.expected.update(short.expected)
        else:
            yield from Search(tasks, 1, self.budget, furthest).orderings(states)
        if furthest.score >= 0 and (epoch, furthest.score) > (self.furthest[0], self.furthest[1].score):
            self.furthest = (epoch, furthest, states)

    def _short_cut(self, tasks: Sequence[SearchTask], states: tuple[Any, ...]) -> Ordering | NoOrdering | None:
        (task, *others) = tasks
        if others or task.hidden:
            return None
        inputs = [tuple(event for _, event in events) for events in task.inputs if not isinstance(events, int)]
        self.budget.spend(len(task.output) + 1)
        return find_ordering(task.program, states[0], inputs, task.output)

    def _search_task(self, task: Task, epochs: Sequence[int]) -> SearchTask:
        """
        Prepare a task for the search over these epochs, which count from 1 there.

        A task whose output was observed to the last epoch of the input has passed the last border, even if other
        streams are not complete.
        """
        producers = {each.output: number for number, each in enumerate(self.tasks)}
        inputs: list[tuple[Tagged, ...] | int] = []
        for stream in task.inputs:
            segments = [self.segments[stream][epoch - 1] for epoch in epochs]
            if any(segment is None for segment in segments):
                inputs.append(producers[stream])
            else:
                inputs.append(tuple((n, each) for n, segment in enumerate(segments, 1) for each in segment or ()))
        shown = list(
            takewhile(lambda segment: segment is not None, (self.segments[task.output][e - 1] for e in epochs))
        )
        output = tuple(each for segment in shown for each in segment or ())
        ends = tuple(accumulate(len(segment or ()) for segment in shown))
        hidden = len(ends) < len(epochs)
        finishes = self.complete or (self.last is not None and not hidden and self.epochs == self.last)
        return SearchTask(task.name, task.program, tuple(inputs), output, ends, hidden, finishes)

    def _solve_unaligned(self, start: tuple[Any, ...]) -> Orders | Unexplained:
        furthest = Furthest()
        tasks = [self._search_task(task, range(1, self.epochs + 1)) for task in self.tasks]
        search = Search(tasks, self.epochs, self.budget, furthest, aligned=False)
        for found in search.orderings(start):
            return {task.name: order for task, order in zip(self.tasks, found.orders, strict=True)}
        task, ends = self.tasks[furthest.task], tasks[furthest.task].ends
        epoch = next((n for n, end in enumerate(ends, start=1) if furthest.position < end), self.epochs)
        before = ends[epoch - 2] if epoch > 1 else 0
        expected = in_order(furthest.expected)
        return Unexplained(task, task.output, epoch, furthest.position - before, expected, start[furthest.task])

    def _orders(self, path: Sequence[JointOrdering]) -> Orders:
        return {task.name: tuple(found.orders[number][0] for found in path) for number, task in enumerate(self.tasks)}

    def _unexplained(self) -> Unexplained:
        epoch, furthest, states = self.furthest
        task, state = self.tasks[furthest.task], states[furthest.task]
        return Unexplained(task, task.output, epoch, furthest.position, in_order(furthest.expected), state)
