"""
Branches: a keyed sum as one filter and one sum for each key, for engines that spread a task over subtasks.

Subtasks of one task do not wait for each other, so their joint output has no order that the model knows of; the output
of each key has. So a case with a `keyed_sum` of n keys is given to such an engine, and judged, with n branches
instead: a filter that keeps the events of one key, and a sum of them, with an output stream of its own. All readers of
the task's output read these n streams instead. For each key that is the same program, and n streams have no order
between them.
"""

from collections.abc import Iterator

from attrs import evolve, frozen

from conformance.case import LONGEST_NAME, Case, Crash, Failure, Graph, Hold, Task
from conformance.programs import Filter, KeyedSum, Sum

MOST_KEYS = 8
"""A keyed sum of more keys than this stays what it is."""


@frozen
class Branches:
    """The branches of one keyed sum, by key: for each its filter and its sum."""

    filters: tuple[Task, ...]
    sums: tuple[Task, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        """The streams that every branch reads."""
        return self.filters[0].inputs

    @property
    def outputs(self) -> tuple[str, ...]:
        """The streams that the branches write, by key."""
        return tuple(task.output for task in self.sums)

    @property
    def names(self) -> frozenset[str]:
        """The names of all tasks of the branches."""
        return frozenset(task.name for task in (*self.filters, *self.sums))


def split_keyed_sums(case: Case) -> Case:
    """Replace keyed sums by branches. A failure or a hold of such a task becomes one of a branch of it."""
    names = {task.name for task in case.graph.tasks} | set(case.graph.streams)
    branches = {
        task.name: _branches(task, task.program.keys, names)
        for task in case.graph.tasks
        if isinstance(task.program, KeyedSum) and task.program.keys <= MOST_KEYS
    }
    if not branches:
        return case
    outputs = {task.output: branches[task.name].outputs for task in case.graph.tasks if task.name in branches}
    tasks = []
    for task in case.graph.tasks:
        made = branches.get(task.name)
        tasks += (
            [task] if made is None else [each for pair in zip(made.filters, made.sums, strict=True) for each in pair]
        )
    read = [
        evolve(task, inputs=tuple(each for stream in task.inputs for each in outputs.get(stream, (stream,))))
        for task in tasks
    ]

    def one_of(task: str, epoch: int) -> str:
        sums = branches[task].sums
        return sums[epoch % len(sums)].name

    def moved(failure: Failure) -> Failure:
        if isinstance(failure, Crash) and failure.task in branches:
            return evolve(failure, task=one_of(failure.task, failure.epoch))
        return failure

    return evolve(
        case,
        graph=Graph(case.graph.sources, tuple(read)),
        failures=tuple(map(moved, case.failures)),
        holds=tuple(
            Hold(one_of(hold.task, hold.epoch), hold.epoch) if hold.task in branches else hold for hold in case.holds
        ),
    )


def _branches(task: Task, keys: int, names: set[str]) -> Branches:
    def new(name: str, suffix: str) -> str:
        made = name[: LONGEST_NAME - len(suffix)] + suffix
        while made in names:
            suffix += "x"
            made = name[: LONGEST_NAME - len(suffix)] + suffix
        names.add(made)
        return made

    filters = tuple(
        Task(new(task.name, f"-of-{key}"), task.inputs, new(task.output, f"-of-{key}"), Filter(keys, key))
        for key in range(keys)
    )
    sums = tuple(
        Task(new(task.name, f"-{key}"), (kept.output,), new(task.output, f"-{key}"), Sum())
        for key, kept in enumerate(filters)
    )
    return Branches(filters, sums)


def find(graph: Graph) -> Iterator[Branches]:
    """
    Find the keyed sums that a graph has as branches.

    These are filters of the same streams, one for each remainder, each with one reader, which is a sum. They compute a
    keyed sum, no matter if `split_keyed_sums` made them or the author of the case wrote them.
    """
    readers: dict[str, list[Task]] = {}
    for task in graph.tasks:
        for stream in task.inputs:
            readers.setdefault(stream, []).append(task)
    alike: dict[tuple[tuple[str, ...], int], dict[int, tuple[Task, Task]]] = {}
    for task in graph.tasks:
        if isinstance(task.program, Filter):
            reading = readers.get(task.output, [])
            if len(reading) == 1 and isinstance(reading[0].program, Sum) and len(reading[0].inputs) == 1:
                kept = alike.setdefault((task.inputs, task.program.mod), {})
                kept.setdefault(task.program.keep, (task, reading[0]))
    for (_, mod), kept in alike.items():
        if len(kept) == mod:
            pairs = [kept[key] for key in range(mod)]
            yield Branches(tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs))
