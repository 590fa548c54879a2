"""The same operator in Spark's newer API, where an operator is an object that keeps its state by name."""

from collections.abc import Iterator, Sequence
from typing import Any

from attrs import frozen
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from conformance.adapters.spark.layout import Layout
from conformance.adapters.spark.operators import STATE, Strikes, operator


@frozen
class Kept:
    """A value state, seen as what the older API gives."""

    value: Any

    @property
    def exists(self) -> bool:
        """Whether there is one."""
        return bool(self.value.exists())

    @property
    def get(self) -> Any:
        """The state, as a row."""
        return self.value.get()

    def update(self, row: tuple[str]) -> None:
        """Another one."""
        self.value.update(row)


class Processor(StatefulProcessor):  # type: ignore[misc]
    """One level."""

    def __init__(self, level: int, batch: Sequence[Layout], strikes: Sequence[Strikes]) -> None:
        self._what = (level, batch, strikes)

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Once in a worker, for many groups."""
        self._value = handle.getValueState("state", STATE)
        self._run = operator(*self._what)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: ARG002, N802, N803 - Spark's names
        """What one group has to do in a micro-batch."""
        yield from self._run(key, rows, Kept(self._value))

    def close(self) -> None:
        """There is nothing to end."""
