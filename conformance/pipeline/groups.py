"""
The part that runs in Spark's workers: a group of rows is explained by the judge's own code, and replayed.

A group is one task in one epoch, with the state at its start; or, if states are not known in advance, a part of the
graph in all epochs. An answer is a value, never an exception, which would end the whole job.
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
from conformance.pipeline.event_values import parsed
from conformance.pipeline.segments import numbering_error
from conformance.pipeline.states import key_count, keyed_state

STATE = -1
"""The number in the column `stream` of rows that hold the state: their seq is a key, their value its sum."""

BORDERS: dict[Kind, int | str] = {"integers": -1, "text": ""}
"""The value of a border. It is not null, because pandas would convert a column of integers to floating point."""

ANSWER = "part long, slice long, rows long, answer string, said binary"

GroupAnswer: TypeAlias = Literal["explained", "unexplained", "out of budget", "misnumbered", "unproven"]


@frozen
class Subgraph:
    """A part of the graph: its tasks, their streams, and whether it is split into epochs to be judged."""

    tasks: tuple[Task, ...]
    streams: tuple[str, ...]
    split: bool
    shown: int
    """The number of epochs to judge, if it is split."""

    states: tuple[Any, ...] = ()
    """The states at the start of each epoch and after the last, if it is split and the state is not in the rows."""


@frozen
class JudgingPlan:
    """What every worker needs to know."""

    subgraphs: tuple[Subgraph, ...]
    kind: Kind
    epochs: int
    seconds: float


def explainer(plan: Any, counted: Any) -> Callable[[Any, Any], Any]:
    """Make the function for `applyInPandas`. The plan is a broadcast variable; an accumulator counts the rows."""

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
        budget = Budget.of_seconds(self.plan.seconds)
        group = TaskGroup(
            list(subgraph.tasks), seen, epochs, budget, aligned=True, complete=True, last=None, start=start
        )
        try:
            found = group.solve()
        except OutOfBudget as out:
            return "out of budget", str(out).encode()
        if isinstance(found, Unexplained):
            return "unexplained", pickle.dumps(evolve(found, epoch=self.slice) if subgraph.split else found)
        ends = replay(subgraph.tasks, seen, start, found, epochs)
        if ends is None or (subgraph.states and ends[0] != subgraph.states[self.slice]):
            return "unproven", b""
        return "explained", b""

    def _start(self, keys: Mapping[int, int]) -> tuple[Any, ...]:
        """Return the states at the start."""
        if not self.subgraph.split:
            return tuple(task.program.initial for task in self.subgraph.tasks)
        (task,) = self.subgraph.tasks
        if key_count(task.program) is not None:
            return (keyed_state(task.program, keys),)
        return (self.subgraph.states[self.slice - 1],)

    def _segments(
        self, rows: Any
    ) -> tuple[dict[tuple[int, int], Segment], dict[int, int], tuple[str, int, str] | None]:
        """
        Return the segments by stream and epoch, the keys of the state, and the first error in the numbers of rows.

        Rows arrive in any order.
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
                wrong = numbering_error(seq[start:end].tolist(), int(seq[start]))
                return {}, {}, (self.subgraph.streams[number], int(epoch[start]), str(wrong))
            segments[number, int(epoch[start])] = self._events(values[start : end - 1])
        return segments, keys, None

    def _events(self, values: Any) -> Segment:
        """Convert the values before the border to events."""
        return tuple(values.tolist()) if self.plan.kind == "integers" else tuple(map(parsed, values))


def replay(
    tasks: Sequence[Task], seen: StreamSegments, start: Sequence[Any], orders: Orders, epochs: int
) -> tuple[Any, ...] | None:
    """
    Replay orders; return the final states if they take every event and give the observed output, and None if not.

    This corresponds to the witness of a verdict: an order that was found is not trusted, it is replayed.
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
