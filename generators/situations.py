"""
Situations: what a case puts an engine through, by name, where recovery protocols are known to go wrong.

How often each occurs is measured (`conformance generate --stats`) and fixed by a test, and a certificate says which of
them were reached.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations, pairwise

from conformance.case import BORDER, PHASES, TARGETS, Case, Crash, Graph, Kill, Partition, Restart, Task

TWO = 2

SKEWED = 3
"""A source or an epoch is skewed if it has so many times the events of another."""


def situations(case: Case) -> frozenset[str]:
    """Name all situations that occur in a case."""
    return frozenset(name for name, occurs in SITUATIONS.items() if occurs(case))


def _distances(graph: Graph) -> dict[str, dict[str, set[int]]]:
    """Find for each stream the streams it is made from, itself included, and the lengths of the paths there."""
    found: dict[str, dict[str, set[int]]] = {source: {source: {0}} for source in graph.sources}
    for task in graph.in_order:
        found[task.output] = {task.output: {0}}
        for stream in task.inputs:
            for ancestor, lengths in found[stream].items():
                found[task.output].setdefault(ancestor, set()).update(length + 1 for length in lengths)
    return found


def _meetings(graph: Graph) -> Iterator[tuple[Task, str, str, str, bool]]:
    """Find diamonds: a task, two of its inputs, the stream both come from, and whether the paths differ in length."""
    distances = _distances(graph)
    for task in graph.tasks:
        for one, other in combinations(task.inputs, 2):
            for common in distances[one].keys() & distances[other].keys():
                yield task, one, other, common, distances[one][common] != distances[other][common]


def _readers(graph: Graph) -> Counter[str]:
    return Counter(stream for task in graph.tasks for stream in task.inputs)


def _is_chain(case: Case) -> bool:
    deep = any(stream not in case.graph.sources for task in case.graph.tasks for stream in task.inputs)
    return deep and all(len(task.inputs) == 1 for task in case.graph.tasks)


def _is_disjoint(case: Case) -> bool:
    """Tell whether some parts share no stream, by joining streams that a task connects until nothing joins any more."""
    part = {stream: stream for stream in case.graph.streams}

    def root(stream: str) -> str:
        while part[stream] != stream:
            stream = part[stream]
        return stream

    for task in case.graph.tasks:
        for stream in task.inputs:
            part[root(stream)] = root(task.output)
    return len({root(stream) for stream in part}) > 1


def _runs(op: str) -> Callable[[Case], bool]:
    return lambda case: any(task.program.op == op for task in case.graph.tasks)


def _rows(case: Case) -> list[tuple[int, ...]]:
    """Count the events of each source, epoch by epoch."""
    return list(zip(*([len(events) for events in epochs] for epochs in case.inputs.values()), strict=True))


def _is_skewed(case: Case) -> bool:
    totals = [sum(len(events) for events in epochs) for epochs in case.inputs.values()]
    rows = [sum(row) for row in _rows(case)]
    return any(min(counts) * SKEWED <= max(counts) and min(counts) > 0 for counts in (totals, rows))


def _repeats(case: Case) -> bool:
    return any(
        len({*events}) < len(events)
        for epochs in case.inputs.values()
        for events in [[event for segment in epochs for event in segment]]
    )


def _crashes(case: Case) -> list[Crash]:
    return [failure for failure in case.failures if isinstance(failure, Crash)]


def _arriving(case: Case, task: str, epoch: int) -> int:
    """Count the events a task has to handle at least in an epoch: those of the sources it reads itself."""
    (reader,) = (each for each in case.graph.tasks if each.name == task)
    return sum(len(case.inputs[stream][epoch - 1]) for stream in reader.inputs if stream in case.inputs)


def _in_the_middle(case: Case) -> bool:
    return any(
        isinstance(crash.event, int) and 0 < crash.event < _arriving(case, crash.task, crash.epoch)
        for crash in _crashes(case)
    )


def _two_tasks_in_one_epoch(case: Case) -> bool:
    return any(one.epoch == two.epoch and one.task != two.task for one, two in combinations(_crashes(case), 2))


def _same_task_again(case: Case) -> bool:
    """Find a task that crashes again in the epoch that is being done again because it crashed."""
    return any(
        isinstance(one, Crash) and isinstance(two, Crash) and (one.task, one.epoch) == (two.task, two.epoch)
        for one, two in pairwise(case.failures)
    )


def _back_to_back(case: Case) -> bool:
    """Find a crash at the very first event after the recovery from the failure before it."""
    return any(
        isinstance(two, Crash) and two.event == 0 and one.epoch == two.epoch and not isinstance(one, Restart)
        for one, two in pairwise(case.failures)
    )


def _kills(target: str | None = None, phase: str | None = None) -> Callable[[Case], bool]:
    return lambda case: any(
        isinstance(failure, Kill) and target in {None, failure.target} and phase in {None, failure.effective_phase}
        for failure in case.failures
    )


def _holds_before_the_last_epoch(case: Case) -> set[str]:
    return {hold.task for hold in case.holds if hold.epoch < case.epochs}


def _slow_branch(case: Case) -> bool:
    """Find a diamond of which one path is held and another is free: at the join the free one reaches the next epoch."""
    held = _holds_before_the_last_epoch(case)
    if not held:
        return False
    return any(
        _is_held_between(case.graph, one, common, held) != _is_held_between(case.graph, other, common, held)
        for _, one, other, common, _ in _meetings(case.graph)
    )


def _is_held_between(graph: Graph, stream: str, common: str, held: set[str]) -> bool:
    """Tell whether a held task stands between a stream and the one it is made from."""
    distances = _distances(graph)
    return any(
        task.name in held
        and task.output in distances[stream]
        and common in distances[task.output]
        and task.output != common
        for task in graph.tasks
    )


def _late_source(case: Case) -> bool:
    """Find a source that reaches a join through a held task only, and meets another source there."""
    held = {task.output for task in case.graph.tasks if task.name in _holds_before_the_last_epoch(case)}
    if not held:
        return False
    distances = _distances(case.graph)
    sources = set(case.graph.sources)
    for task in case.graph.tasks:
        for one, other in combinations(task.inputs, 2):
            late, free = (one, other) if distances[one].keys() & held else (other, one)
            only_one = bool(distances[late].keys() & held) and not distances[free].keys() & held
            if only_one and (distances[late].keys() & sources) - distances[free].keys():
                return True
    return False


SITUATIONS: dict[str, Callable[[Case], bool]] = {
    "a chain": _is_chain,
    "a task's output read by several": lambda case: any(
        many > 1 and stream not in case.graph.sources for stream, many in _readers(case.graph).items()
    ),
    "a source read by several": lambda case: any(
        many > 1 and stream in case.graph.sources for stream, many in _readers(case.graph).items()
    ),
    "two inputs": lambda case: any(len(task.inputs) == TWO for task in case.graph.tasks),
    "three inputs or more": lambda case: any(len(task.inputs) > TWO for task in case.graph.tasks),
    "a diamond": lambda case: any(not unequal for *_, unequal in _meetings(case.graph)),
    "a diamond of unequal depth": lambda case: any(unequal for *_, unequal in _meetings(case.graph)),
    "several sources": lambda case: len(case.graph.sources) > 1,
    "disjoint parts": _is_disjoint,
    "digest": _runs("digest"),
    "batch": _runs("batch"),
    "distinct": _runs("distinct"),
    "average": _runs("average"),
    "keyed_sum": _runs("keyed_sum"),
    "an epoch empty everywhere": lambda case: any(not any(row) for row in _rows(case)),
    "a source silent for an epoch": lambda case: any(any(row) and not all(row) for row in _rows(case)),
    "skew": _is_skewed,
    "repeated values": _repeats,
    "reset": lambda case: any("reset" in events for epochs in case.inputs.values() for events in epochs),
    "no failure": lambda case: not case.failures,
    "a crash": lambda case: bool(_crashes(case)),
    "a crash at the first event": lambda case: any(crash.event == 0 for crash in _crashes(case)),
    "a crash in the middle": _in_the_middle,
    "a crash at the border": lambda case: any(crash.event == BORDER for crash in _crashes(case)),
    "a failure in the first epoch": lambda case: case.epochs > 1 and any(f.epoch == 1 for f in case.failures),
    "a failure in the last epoch": lambda case: case.epochs > 1 and any(f.epoch == case.epochs for f in case.failures),
    "two tasks in one epoch": _two_tasks_in_one_epoch,
    "the same task again": _same_task_again,
    "back to back": _back_to_back,
    **{f"kill of a {target}": _kills(target) for target in TARGETS},
    **{f"kill in {phase}": _kills(None, phase) for phase in PHASES},
    "a restart": lambda case: any(isinstance(failure, Restart) for failure in case.failures),
    "a partition": lambda case: any(isinstance(failure, Partition) for failure in case.failures),
    "a slow branch of a diamond": _slow_branch,
    "a late source": _late_source,
}
"""Every situation by name; each occurs in at least 3 % of default cases."""
