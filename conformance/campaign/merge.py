"""Several cases as one: side by side in one graph, sharing no stream. What a batch is, written down."""

from collections.abc import Sequence

from attrs import evolve

from conformance.case import NAME, Case, Crash, Epochs, Failure, Graph, Hold, Task


def merged(cases: Sequence[Case]) -> Case:
    """
    One case made of disjoint ones. Each keeps its order of failures; those of different cases are taken by epoch.

    Cases of fewer epochs get empty ones behind theirs, as all sources have the same number.
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
    """The same names behind the case's number; counted, where that makes one too long."""
    longer = {name: f"c{number}-{name}" for name in names}
    if all(NAME.fullmatch(name) for name in longer.values()):
        return longer
    return {name: f"c{number}-{place}" for place, name in enumerate(names)}


def _by_epoch(lists: Sequence[Sequence[Failure]]) -> tuple[Failure, ...]:
    """All failures: always the first of those left in some list, and of these one of the lowest epoch."""
    left = [list(each) for each in lists if each]
    taken = []
    while left:
        first = min(left, key=lambda failures: failures[0].epoch)
        taken.append(first.pop(0))
        left = [each for each in left if each]
    return tuple(taken)
