"""
Exhaustive exploration: every interleaving of a case and every placement of up to K failures.

The answer is the set of all `out` that can be observed, with failures and without, and whether failures add any: if for
every reachable c there is a failure-free c' with out(c) = out(c'), the case is failure transparent. That is enough,
because along an execution `out` only grows by whole epochs, so its last value determines all values before it and
their order.
"""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from attrs import frozen

from conformance.case import Case, Epochs
from conformance.errors import OutOfBudget
from conformance.model.configuration import RECOVER, Configuration, Processor, Step, initial
from conformance.model.rules import ready, successor
from conformance.model.snapshot import gce, observed

HashableOut: TypeAlias = tuple[tuple[str, Epochs], ...]
Visitor: TypeAlias = Callable[[Configuration, Step, Configuration], None]


@frozen
class Exploration:
    """The result: `ends` are the outs of final configurations, `stuck` the ones that end without every epoch."""

    states: int
    transitions: int
    outs: frozenset[HashableOut]
    failure_free: frozenset[HashableOut]
    ends: frozenset[HashableOut]
    stuck: tuple[Configuration, ...]

    @property
    def transparent(self) -> bool:
        """Whether failures show nothing that could not be seen without them."""
        return self.outs == self.failure_free

    @property
    def live(self) -> bool:
        """Whether no execution ends before every epoch is committed."""
        return not self.stuck


def out_of(c: Configuration) -> HashableOut:
    """Return out(c) as a value that can be kept in a set."""
    return tuple(observed(c).items())


def explore(
    case: Case,
    failures: int = 0,
    *,
    reduced: bool = True,
    visit: Visitor | None = None,
    most: int | None = None,
) -> Exploration:
    """
    Visit what can be reached with at most `failures` F-Fail steps; `visit` sees every transition taken.

    Configurations are visited in layers by how many failures they took: one that was reached with fewer has all the
    futures it would have with more, so it is not visited again.

    *The reduction*, and why it loses no out. Call two steps independent if, where both are enabled, neither disables
    the other and both orders end in the same configuration.

    1. Steps of different tasks are independent, F-Fail included: a step changes its own task's state and numbers, and
       appends to a stream that only it writes. (Lemma 6.5; the exhaustive tests check every pair in every
       configuration.)

    2. Without failures it is enough to go on with one task p at a time, provided every input of p offers a message.
       Then the steps of p that are enabled are all that p can do next: no other task changes the heads of its inputs.
       So they form a persistent set: whatever the others do first is independent of each of them. Some such task
       exists as long as anything is enabled, namely the first unfinished one in topological order: its inputs are
       sources or the streams of finished tasks, whole already. Without recovery the state space has no cycle, so
       nothing is put off for ever. Hence every maximal execution has an equivalent one that is visited and ends in the
       same configuration. And as out after epoch k is what the end shows of the epochs up to k, and gce passes every
       number on its way, all outs in between are visited too.

    3. A failed task takes no step before the recovery, so by (1) its F-Fail can be put off to just before it, or to
       the end, where it changes no out. Which tasks failed makes no difference to lcs, so one F-Fail is enough.

    4. lcs(c) depends on the archives, messages and numbers of epochs up to gce(c) only, so it changes only at a
       committing border step (Lemma B.9). A recovery from c can therefore be taken at the last commit before c
       instead, and, in the equivalent execution of (2), at the same commit. So it is enough to fail at the start and
       right after each commit.
    """
    start = initial(case)
    search = _Search(start, visit, most)
    frontier = [start]
    failure_free: frozenset[HashableOut] = frozenset()
    for layer in range(failures + 1):
        visited = search.close(frontier, _one_task if reduced else _every_task)
        if layer == 0:
            failure_free = frozenset(search.outs)
        if layer == failures:
            break
        if reduced:
            frontier = [search.step(c, _first(c).fail) for c in visited if search.starts_anew(c)]
        else:
            frontier = [search.step(c, task.fail) for c in visited for task in c.dataflow.processors.values()]
    return Exploration(
        states=len(search.seen),
        transitions=search.transitions,
        outs=frozenset(search.outs),
        failure_free=failure_free,
        ends=frozenset(search.ends),
        stuck=tuple(search.stuck),
    )


class _Search:
    def __init__(self, first: Configuration, visit: Visitor | None, most: int | None) -> None:
        self.first = first
        self.visit = visit
        self.most = most
        self.seen: set[Configuration] = set()
        self.outs: set[HashableOut] = set()
        self.ends: set[HashableOut] = set()
        self.stuck: list[Configuration] = []
        self.transitions = 0
        self.commits: set[Configuration] = set()

    def close(
        self, frontier: list[Configuration], follow: Callable[[Configuration], Iterator[Step]]
    ) -> list[Configuration]:
        """Visit everything reachable from the frontier that is new."""
        stack = [c for c in frontier if self.add(c)]
        visited = []
        while stack:
            c = stack.pop()
            visited.append(c)
            steps = list(follow(c))
            if not steps:
                self.end(c)
            stack.extend(after for step in steps if self.add(after := self.step(c, step)))
        return visited

    def step(self, c: Configuration, step: Step) -> Configuration:
        after = successor(c, step)
        if after is None:
            raise AssertionError(f"{step} was enabled and does not apply")
        self.transitions += 1
        if gce(after) != gce(c):
            self.commits.add(after)
        if self.visit is not None:
            self.visit(c, step, after)
        return after

    def starts_anew(self, c: Configuration) -> bool:
        """Tell whether c is the initial configuration, or an epoch was committed just now."""
        return c in self.commits or c == self.first

    def add(self, c: Configuration) -> bool:
        size = len(self.seen)
        self.seen.add(c)
        if len(self.seen) == size:
            return False
        if self.most is not None and size >= self.most:
            raise OutOfBudget(
                f"there are more than {self.most} configurations; allow more with --most, or give a smaller case"
            )
        self.outs.add(out_of(c))
        return True

    def end(self, c: Configuration) -> None:
        if gce(c) == c.dataflow.epochs:
            self.ends.add(out_of(c))
        else:
            self.stuck.append(c)


def _every_task(c: Configuration) -> Iterator[Step]:
    for name in c.dataflow.processors:
        yield from ready(c, name)
    if c.failed:
        yield RECOVER


def _one_task(c: Configuration) -> Iterator[Step]:
    if c.failed:
        yield RECOVER
        return
    for name, processor in c.dataflow.processors.items():
        numbers = c.numbers[name]
        steps = ready(c, name)
        if steps and all(numbers[stream] < len(c.messages[stream]) for stream in processor.inputs):
            yield from steps
            return


def _first(c: Configuration) -> Processor:
    return next(iter(c.dataflow.processors.values()))
