"""A batch of cases merged into one: side by side in one graph, without a shared stream."""

from collections.abc import Sequence

from attrs import evolve

from conformance.case import NAME, Case, Crash, Epochs, Failure, Graph, Hold, Task


def merge(cases: Sequence[Case]) -> Case:
    """
    Merge disjoint cases into one. Each keeps its order of failures; failures of different cases are ordered by epoch.

    Cases with fewer epochs get empty ones at their end, because all sources of a case have the same number.
    """
    epochs = max(case.epochs for case in cases)
    renamed = [_renamed(case, number, epochs) for number, case in enumerate(cases)]
    return Case(
        name=f"{len(cases)} cases as one",
        graph=Graph(
            sources=tuple(source for case in renamed for source in case.graph.sources),
            tasks=tuple(task for case in renamed for task in case.graph.tasks),
        ),
        inputs={source: given for case in renamed for source, given in case.inputs.items()},
        failures=_by_epoch([case.failures for case in renamed]),
        holds=tuple(hold for case in renamed for hold in case.holds),
    )


def _renamed(case: Case, number: int, epochs: int) -> Case:
    streams = _names(case.graph.streams, number)
    tasks = _names([task.name for task in case.graph.tasks], number)
    graph = Graph(
        sources=tuple(streams[source] for source in case.graph.sources),
        tasks=tuple(
            Task(tasks[task.name], tuple(streams[s] for s in task.inputs), streams[task.output], task.program)
            for task in case.graph.tasks
        ),
    )
    empty: Epochs = ((),) * (epochs - case.epochs)
    return Case(
        graph=graph,
        inputs={streams[source]: tuple(given) + empty for source, given in case.inputs.items()},
        failures=tuple(evolve(f, task=tasks[f.task]) if isinstance(f, Crash) else f for f in case.failures),
        holds=tuple(Hold(tasks[hold.task], hold.epoch) for hold in case.holds),
    )


def _names(names: Sequence[str], number: int) -> dict[str, str]:
    """Prefix names with the number of the case; replace all names by numbers if one gets too long."""
    longer = {name: f"c{number}-{name}" for name in names}
    if all(NAME.fullmatch(name) for name in longer.values()):
        return longer
    return {name: f"c{number}-{index}" for index, name in enumerate(names)}


def _by_epoch(lists: Sequence[Sequence[Failure]]) -> tuple[Failure, ...]:
    """Merge lists of failures: each list keeps its order, and of the first ones the lowest epoch comes next."""
    remaining = [list(each) for each in lists if each]
    merged_failures = []
    while remaining:
        first = min(remaining, key=lambda failures: failures[0].epoch)
        merged_failures.append(first.pop(0))
        remaining = [each for each in remaining if each]
    return tuple(merged_failures)
