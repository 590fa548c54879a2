"""
The stateful operator of Spark's Python workers: one task of one case, for one micro-batch.

A task's state is in Spark's state store only. Its input is sorted by sequence number, because Spark keeps no order
between partitions. Attempts share nothing else, except the evidence of failures.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from conformance.adapters.faults import TaskPosition
from conformance.adapters.spark.routing import FORWARD, RowRouting, group_owner
from conformance.adapters.spark.task_faults import TaskFaults
from conformance.adapters.states import dump, load

ROW = "owner int, case int, task string, inp int, stream string, epoch int, seq int, value string"
COLUMNS = [field.split()[0] for field in ROW.split(", ")]
"""Addressed to a task's input. `value` is JSON, and null for the border that closes an epoch."""

STATE = "state string"

OutputRow: TypeAlias = tuple[str, int, int, str | None]
"""Stream, epoch, sequence number and value."""


def make_operator(
    level: int, routings: Sequence[RowRouting], faults: Sequence[TaskFaults]
) -> Callable[[tuple[int, str], Iterator[Any], Any], Iterator[Any]]:
    """Make the function that Spark calls in each micro-batch for each group of a level: a task, or forwarded rows."""
    import pandas as pd  # noqa: PLC0415 - this module is imported without Spark, too

    def run(key: tuple[int, str], chunks: Iterator[Any], state: Any) -> Iterator[Any]:
        number, name = key
        rows = [row for chunk in chunks for row in chunk[COLUMNS].itertuples(index=False)]
        if name == FORWARD:
            output = [(row.case, row.stream, row.epoch, row.seq, row.value) for row in rows]
        else:
            output = [(number, *each) for each in _run_task(routings[number], name, rows, state, faults[number])]
        yield pd.DataFrame(
            [
                (group_owner(case, task), case, task, inp, stream, epoch, seq, value)
                for case, stream, epoch, seq, value in output
                for task, inp in routings[case].routes[level + 1, stream]
            ],
            columns=COLUMNS,
            # Newer versions of pandas would choose Arrow's arrays for text, which Spark 4.1 does not support.
            dtype=object,
        )

    return run


def _run_task(routing: RowRouting, name: str, rows: Sequence[Any], state: Any, faults: TaskFaults) -> list[OutputRow]:
    """Run one task: for each epoch its events, which alternate between its inputs, then the border."""
    task = next(task for task in routing.case.graph.tasks if task.name == name)
    value = load(state.get[0]) if state.exists else task.program.initial
    output: list[OutputRow] = []
    for epoch in sorted({int(row.epoch) for row in rows}):
        events = sorted(
            (row for row in rows if row.epoch == epoch and not _is_border(row)), key=lambda row: (row.seq, row.inp)
        )
        emitted: list[Any] = []
        for handled, row in enumerate(events):
            faults.before(TaskPosition(name, epoch, handled))
            value, more = task.program(value, json.loads(row.value))
            emitted += more
        faults.before(TaskPosition(name, epoch, len(events), is_border=True))
        output += [(task.output, epoch, seq, json.dumps(event)) for seq, event in enumerate(emitted)]
        output.append((task.output, epoch, len(emitted), None))
    state.update((dump(value),))
    return output


def _is_border(row: Any) -> bool:
    return not isinstance(row.value, str)
