"""
The small scope: every graph up to renaming, every number of events, for the exhaustive tests.

`digest` runs everywhere, as it tells every order of every event apart. Where that makes too many interleavings to
visit (a task that reads three streams of which one carries the events of the others has thousands in every epoch, and
epochs multiply), the tasks with most of them count instead, which makes orders look alike but keeps every step,
failure and recovery there is; the same graph with fewer events still runs with `digest`.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, combinations, permutations, product
from math import factorial, prod
from random import Random

from conformance.case import Case, Graph, Task
from conformance.programs import Count, Digest, Program

Shape = tuple[frozenset[int], ...]
"""For each task the streams it reads; sources are 0..n-1, the k-th task's output is n+k."""


def shapes(sources: int, tasks: int) -> list[Shape]:
    """List the graphs of these numbers of sources and tasks in which every source is read, up to renaming."""
    found: dict[tuple[tuple[int, ...], ...], Shape] = {}
    choices = [_subsets(range(sources + number)) for number in range(tasks)]
    for shape in product(*choices):
        if set(range(sources)) <= set(chain(*shape)):
            found.setdefault(_canonical(shape, sources), shape)
    return list(found.values())


def _subsets(streams: range) -> list[frozenset[int]]:
    return [frozenset(some) for size in range(1, len(streams) + 1) for some in combinations(streams, size)]


def _canonical(shape: Shape, sources: int) -> tuple[tuple[int, ...], ...]:
    names = []
    for renamed_sources in permutations(range(sources)):
        for renamed_tasks in permutations(range(len(shape))):
            rename = [*renamed_sources, *(sources + task for task in renamed_tasks)]
            tasks = sorted((renamed_tasks[k], tuple(sorted(rename[s] for s in shape[k]))) for k in range(len(shape)))
            names.append(tuple(inputs for _, inputs in tasks))
    return min(names)


def cases(shape: Shape, sources: int, *, epochs: int, events: int, most: int) -> Iterator[Case]:
    """The shape with every number of events from 0 to `events` in each epoch of each source."""
    for counts in product(range(events + 1), repeat=sources * epochs):
        by_source = [counts[source * epochs : (source + 1) * epochs] for source in range(sources)]
        inputs = {
            f"s{source}": tuple(
                tuple(100 * source + 10 * epoch + event for event in range(count))
                for epoch, count in enumerate(numbers)
            )
            for source, numbers in enumerate(by_source)
        }
        yield Case(graph(shape, sources, counting(shape, by_source, most)), inputs)


def sampled(
    shape: Shape, sources: int, *, epochs: int, events: int, programs: Sequence[Program], samples: int
) -> Iterator[Case]:
    """The shape with other programs and other events, some of each, always the same."""
    random = Random(repr(shape))
    for _ in range(samples):
        chosen = [random.choice(programs) for _ in shape]
        inputs = {
            f"s{source}": tuple(
                tuple(random.choice((0, 1, 2, 3, "reset")) for _ in range(random.randint(0, events)))
                for _ in range(epochs)
            )
            for source in range(sources)
        }
        yield Case(graph(shape, sources, chosen), inputs)


def graph(shape: Shape, sources: int, programs: list[Program]) -> Graph:
    """The shape as a graph."""
    names = [f"s{number}" for number in range(sources)] + [f"o{number}" for number in range(len(shape))]
    tasks = tuple(
        Task(f"t{number}", tuple(names[s] for s in sorted(reads)), f"o{number}", programs[number])
        for number, reads in enumerate(shape)
    )
    return Graph(tuple(names[:sources]), tasks)


def interleavings(shape: Shape, by_source: list[tuple[int, ...]]) -> list[int]:
    """For each task, in how many orders it can take its events, over all epochs."""
    carried = [list(numbers) for numbers in by_source]
    orders = []
    for reads in shape:
        per_epoch = list(zip(*(carried[stream] for stream in reads), strict=True))
        carried.append([sum(numbers) for numbers in per_epoch])
        orders.append(prod(factorial(sum(numbers)) // prod(map(factorial, numbers)) for numbers in per_epoch))
    return orders


def counting(shape: Shape, by_source: list[tuple[int, ...]], most: int) -> list[Program]:
    """`digest` for every task, `count` for those that would take the orders above `most`."""
    orders = interleavings(shape, by_source)
    programs: list[Program] = [Digest()] * len(shape)
    while prod(orders) > most:
        widest = orders.index(max(orders))
        programs[widest] = Count()
        orders[widest] = 1
    return programs
