"""
What runs in Spark's workers: one group of rows, explained by the judge's own code, and replayed.

A group is one task in one epoch, with the state at its start; or, where states are not known in advance, a part of the
graph in all epochs. An answer is a value, never an exception: that would end the whole job.
"""

import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from attrs import evolve, frozen

from conformance.case import Task
from conformance.errors import OutOfBudget
from conformance.judge.budget import Budget
from conformance.judge.explain import Orders, StreamSegments, TaskGroup, Unexplained
from conformance.judge.ordering import Segment
from conformance.pipeline.dataset import Kind
from conformance.pipeline.events import parsed
from conformance.pipeline.segments import wrong_number
from conformance.pipeline.states import from_keys, keys_of

STATE = -1
"""Stands for the state, where rows have the number of a stream; their seq is a key, their value its sum."""

BORDERS: dict[Kind, int | str] = {"integers": -1, "text": ""}
"""What stands for a border here, as a null would make floating-point numbers of a column of integers."""

ANSWER = "part long, slice long, rows long, answer string, said binary"

GroupAnswer: TypeAlias = Literal["explained", "unexplained", "out of budget", "misnumbered", "unproven"]


@frozen
class Subgraph:
    """A part of the graph: its tasks, the streams they touch, and whether it is judged epoch by epoch."""

    tasks: tuple[Task, ...]
    streams: tuple[str, ...]
    split: bool
    shown: int
    """How many epochs there are to judge, where it is split."""

    states: tuple[Any, ...] = ()
    """At the start of each epoch and behind the last, where it is split, and the state is not in the rows."""


@frozen
class JudgingPlan:
    """What every worker has to know."""

    subgraphs: tuple[Subgraph, ...]
    kind: Kind
    epochs: int
    seconds: float


def explainer(plan: Any, counted: Any) -> Callable[[Any, Any], Any]:
    """The function for `applyInPandas`; the plan is a broadcast one, and rows are counted in an accumulator."""

    def explain_group(key: tuple[Any, ...], rows: Any) -> Any:
        import pandas as pd  # noqa: PLC0415 - it comes with the extra `spark`

        part, slice_ = (int(each) for each in key)
        answer, said = _Group(plan.value, part, slice_).answer(rows)
        count = int((rows["stream"] != STATE).sum())
        counted.add(count)
        return pd.DataFrame([(part, slice_, count, answer, said)], columns=["part", "slice", "rows", "answer", "said"])

    return explain_group


@frozen
class _Group:
    plan: JudgingPlan
    part: int
    slice: int

    @property
    def subgraph(self) -> Subgraph:
        return self.plan.subgraphs[self.part]

    def answer(self, rows: Any) -> tuple[GroupAnswer, bytes]:
        segments, keys, wrong = self._segments(rows)
        if wrong is not None:
            return "misnumbered", pickle.dumps(wrong)
        subgraph = self.subgraph
        epochs = 1 if subgraph.split else self.plan.epochs
        seen: StreamSegments = {
            stream: [segments.get((number, self.slice if subgraph.split else epoch)) for epoch in range(1, epochs + 1)]
            for number, stream in enumerate(subgraph.streams)
        }
        start = self._start(keys)
        budget = Budget(steps=10**12, seconds=self.plan.seconds)
        part = TaskGroup(
            list(subgraph.tasks), seen, epochs, budget, aligned=True, complete=True, last=None, start=start
        )
        try:
            found = part.solve()
        except OutOfBudget as out:
            return "out of budget", str(out).encode()
        if isinstance(found, Unexplained):
            return "unexplained", pickle.dumps(evolve(found, epoch=self.slice) if subgraph.split else found)
        ends = replayed(subgraph.tasks, seen, start, found, epochs)
        if ends is None or (subgraph.states and ends[0] != subgraph.states[self.slice]):
            return "unproven", b""
        return "explained", b""

    def _start(self, keys: Mapping[int, int]) -> tuple[Any, ...]:
        """The states to start from."""
        if not self.subgraph.split:
            return tuple(task.program.initial for task in self.subgraph.tasks)
        (task,) = self.subgraph.tasks
        if keys_of(task.program) is not None:
            return (from_keys(task.program, keys),)
        return (self.subgraph.states[self.slice - 1],)

    def _segments(
        self, rows: Any
    ) -> tuple[dict[tuple[int, int], Segment], dict[int, int], tuple[str, int, str] | None]:
        """
        The segments by stream and epoch, and the keys of the state; and where rows are not numbered one by one, what is
        wrong there. They are in no order when they come.
        """
        stream, epoch, seq = (rows[name].to_numpy() for name in ("stream", "epoch", "seq"))
        order = np.lexsort((seq, epoch, stream))
        stream, epoch, seq = stream[order], epoch[order], seq[order]
        values = rows["value"].to_numpy()[order]
        cuts = np.flatnonzero((np.diff(stream) != 0) | (np.diff(epoch) != 0)) + 1
        segments: dict[tuple[int, int], Segment] = {}
        keys: dict[int, int] = {}
        for start, end in zip([0, *cuts.tolist()], [*cuts.tolist(), len(order)], strict=True):
            number = int(stream[start])
            if number == STATE:
                keys = {int(key): int(total) for key, total in zip(seq[start:end], values[start:end], strict=True)}
                continue
            if not (np.diff(seq[start:end]) == 1).all():
                wrong = wrong_number(seq[start:end].tolist(), int(seq[start]))
                return {}, {}, (self.subgraph.streams[number], int(epoch[start]), str(wrong))
            segments[number, int(epoch[start])] = self._events(values[start : end - 1])
        return segments, keys, None

    def _events(self, values: Any) -> Segment:
        """What stands before the border."""
        return tuple(values.tolist()) if self.plan.kind == "integers" else tuple(map(parsed, values))


def replayed(
    tasks: Sequence[Task], seen: StreamSegments, start: Sequence[Any], orders: Orders, epochs: int
) -> tuple[Any, ...] | None:
    """
    The states that these orders leave, if they take every event and show what was seen; None if they do not.

    This is what the witness of a verdict is elsewhere: an order that was found is not believed, it is followed.
    """
    states = list(start)
    for epoch in range(epochs):
        made: dict[str, Segment] = {}
        for number, task in enumerate(tasks):
            inputs = [made[name] if (known := seen[name][epoch]) is None else known for name in task.inputs]
            at = [0] * len(inputs)
            shown: list[int | str] = []
            program, state = task.program, states[number]
            for which in orders[task.name][epoch]:
                state, outputs = program(state, inputs[which][at[which]])
                at[which] += 1
                shown += outputs
            states[number] = state
            made[task.output] = tuple(shown)
            wanted = seen[task.output][epoch]
            if at != list(map(len, inputs)) or (wanted is not None and wanted != made[task.output]):
                return None
    return tuple(states)
