"""The stateful operator in Spark's newer API, transformWithState, where an operator is an object with named states."""

from collections.abc import Iterator, Sequence
from typing import Any

from attrs import frozen
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from conformance.adapters.spark.operators import STATE, make_operator
from conformance.adapters.spark.routing import RowRouting
from conformance.adapters.spark.task_faults import TaskFaults


@frozen
class GroupStateView:
    """A value state with the interface of the group state of the older API, applyInPandasWithState."""

    value: Any

    @property
    def exists(self) -> bool:
        """Whether the group has a state."""
        return bool(self.value.exists())

    @property
    def get(self) -> Any:
        """The state, as a row."""
        return self.value.get()

    def update(self, row: tuple[str]) -> None:
        """Replace the state."""
        self.value.update(row)


class LevelProcessor(StatefulProcessor):  # type: ignore[misc]
    """The operator of one level."""

    def __init__(self, level: int, routings: Sequence[RowRouting], faults: Sequence[TaskFaults]) -> None:
        self._arguments = (level, routings, faults)

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Start in a worker, before its groups."""
        self._value = handle.getValueState("state", STATE)
        self._operator = make_operator(*self._arguments)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: ARG002, N802, N803 - Spark's names
        """Handle the rows of one group in a micro-batch."""
        yield from self._operator(key, rows, GroupStateView(self._value))

    def close(self) -> None:
        """Do nothing; the processor holds no resources."""
