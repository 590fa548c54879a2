"""
Summaries of all segments, computed in one pass over the rows.

A segment is what a stream carries in one epoch of one observation. Its summary has its length, a hash of its content,
and sums of its integers. The table of summaries is small, and all that the driver sees of segments that are right. Two
segments are taken to be equal if they have the same number of rows and the same 128 bits: two 64-bit hashes of each row
with its number in the stream, each combined over the rows. Segments that differ are compared row by row.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, TypeAlias

from attrs import frozen

from conformance.case import MOST_EPOCHS
from conformance.errors import Malformed, quote
from conformance.pipeline.dataset import Kind
from conformance.pipeline.event_values import are_events, event_of
from conformance.programs import RESET, P

RECORDED = -1
"""The origin of recorded inputs; other origins are indices of observations."""

MOST_ROWS = 2**32
"""The limit for a stream in an observation."""

NUMBERED = "in each stream of an observation the numbers from 0 on, each once"

NUMBER = "^(0|[1-9][0-9]{0,9})$"

SegmentKey: TypeAlias = tuple[int, str, int]
"""The origin of a segment (an observation or RECORDED), its stream and its epoch."""


@frozen
class SegmentSummary:
    """What the driver knows of a segment without its rows."""

    rows: int
    low: int
    high: int
    seq_sum: int
    borders: int
    border_at: int
    wrong_at: int
    hashes: tuple[int, int]
    integers: int
    total: int
    last: int | None
    resets: int


@frozen
class Rows:
    """All rows, of the recorded input and of every observation: origin, stream, epoch, seq, value."""

    frame: Any
    kind: Kind
    recorded: frozenset[str]
    """The sources of the case."""

    observed: frozenset[str]
    """The streams that observations show."""

    number: int
    """The number of observations."""

    files: tuple[str, str]
    """The files of the recorded and of the observed rows, for error messages."""

    def summaries(self) -> dict[SegmentKey, SegmentSummary]:
        """Compute the summaries in one pass. Rows that belong to no segment are refused."""
        from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark` may not be installed

        stray = self._stray()
        number, wrong, reset = _value_columns(self.kind)
        keys = [f.when(~stray, f.col(name)).alias(name) for name in ("origin", "stream", "epoch")]
        table = self.frame.groupBy(*keys).agg(
            f.count("*").alias("rows"),
            f.min("seq").alias("low"),
            f.max("seq").alias("high"),
            f.sum(f.when(~stray, f.col("seq"))).alias("seq_sum"),
            f.sum(f.when(f.col("value").isNull(), 1).otherwise(0)).alias("borders"),
            f.coalesce(f.max(f.when(f.col("value").isNull(), f.col("seq"))), f.lit(-1)).alias("border_at"),
            f.coalesce(f.min(f.when(wrong, f.col("seq"))), f.lit(-1)).alias("wrong_at"),
            f.bit_xor(f.xxhash64("seq", "value")).alias("one"),
            f.bit_xor(f.xxhash64(f.lit(1), f.col("value"), f.lit(2), f.col("seq"))).alias("two"),
            f.count(f.when(~wrong, number)).alias("integers"),
            f.coalesce(f.sum(f.when(~wrong, number)), f.lit(0)).alias("total"),
            f.coalesce(f.max(f.when(~stray & ~wrong, f.col("seq") * (P + 1) + number)), f.lit(-1)).alias("last"),
            f.sum(f.when(reset, 1).otherwise(0)).alias("resets"),
        )
        found = {}
        for each in table.toArrow().to_pylist():
            if each["stream"] is None:
                self._refuse_stray(stray)
            key = each.pop("origin"), each.pop("stream"), each.pop("epoch")
            hashes = each.pop("one"), each.pop("two")
            last = each.pop("last")
            found[key] = SegmentSummary(hashes=hashes, last=last % (P + 1) if last >= 0 else None, **each)
        return found

    def _stray(self) -> Any:
        """Return the condition for rows that belong to no segment: a column is null or out of range."""
        from pyspark.sql import functions as f  # noqa: PLC0415 - as above

        source = (f.col("origin") == RECORDED) & f.col("stream").isin(sorted(self.recorded))
        shown = f.col("origin").between(0, self.number - 1) & f.col("stream").isin(sorted(self.observed))
        known = source | shown
        bounded = f.col("epoch").between(1, MOST_EPOCHS) & f.col("seq").between(0, MOST_ROWS - 1)
        return ~f.coalesce(known & bounded, f.lit(False))  # noqa: FBT003 - a literal of Spark

    def _refuse_stray(self, stray: Any) -> None:
        row = self.frame.filter(stray).orderBy("origin", "stream", "epoch", "seq").first().asDict()
        origin, recorded = row["origin"], row["origin"] == RECORDED
        file = self.file(origin)
        if not recorded and (origin is None or not 0 <= origin < self.number):
            expected = f"one from 0 to {self.number - 1}"
            raise Malformed(f"observation {quote(origin)}", expected, path=("observation",), file=file)
        if row["stream"] not in (streams := self.recorded if recorded else self.observed):
            expected = f"one of {', '.join(sorted(streams))}"
            raise Malformed(f"stream {quote(row['stream'])}", expected, path=("stream",), file=file)
        path = path_of(origin, row["stream"])
        if row["epoch"] is None or not 1 <= row["epoch"] <= MOST_EPOCHS:
            raise Malformed(f"epoch {quote(row['epoch'])}", f"one from 1 to {MOST_EPOCHS}", path=path, file=file)
        raise Malformed(f"seq {quote(row['seq'])}", f"a number from 0 to {MOST_ROWS - 1}", path=path, file=file)

    def file(self, origin: int | None) -> str:
        """Return the file of the rows of an origin."""
        return self.files[0] if origin == RECORDED else self.files[1]

    def fetch(self, keys: Iterable[SegmentKey]) -> dict[SegmentKey, list[tuple[int, Any]]]:
        """Return the rows of these segments, each with its number and its value; the value of a border is None."""
        from pyspark.sql import functions as f  # noqa: PLC0415 - as above

        wanted = list(keys)
        found: dict[SegmentKey, list[tuple[int, Any]]] = {key: [] for key in wanted}
        if wanted:
            spark = self.frame.sparkSession
            few = spark.createDataFrame(wanted, "origin long, stream string, epoch long")
            epochs = sorted({epoch for _, _, epoch in wanted})
            near = self.frame.filter(f.col("epoch").between(epochs[0], epochs[-1]))
            rows = near.join(f.broadcast(few), ["origin", "stream", "epoch"]).collect()
            for row in rows:
                found[row.origin, row.stream, row.epoch].append((row.seq, row.value))
        return {key: sorted(rows, key=lambda row: row[0]) for key, rows in found.items()}

    def events(self, keys: Iterable[SegmentKey]) -> dict[SegmentKey, tuple[int | str, ...]]:
        """Return the events of these segments; refuse rows that are not numbered without a gap."""
        fetched = self.fetch(keys)
        for (origin, stream, epoch), rows in fetched.items():
            numbers = [seq for seq, _ in rows]
            if found := numbering_error(numbers, numbers[0]):
                path = path_of(origin, stream)
                raise Malformed(f"{found} in epoch {epoch}", NUMBERED, path=path, file=self.file(origin))
        return {
            key: tuple(event_of(value, self.kind) for _, value in rows if value is not None)
            for key, rows in fetched.items()
        }


def numbering_error(numbers: list[int], first: int) -> str | None:
    """Say what is wrong with the numbers of rows, which should go up one by one; None if nothing is."""
    if numbers and numbers[0] != first:
        return f"no row with seq {first}"
    for one, other in pairwise(numbers):
        if one == other:
            return f"seq {one} twice"
        if other != one + 1:
            return f"no row with seq {one + 1}"
    return None


def path_of(origin: int, stream: str) -> tuple[str | int, ...]:
    """Return the JSON path of a stream, for error messages."""
    return ("inputs", stream) if origin == RECORDED else ("observations", origin, stream)


def _value_columns(kind: Kind) -> tuple[Any, Any, Any]:
    """Return columns for values: the integer, if it is one; whether it is no event; whether it is a reset."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - as above
    from pyspark.sql.pandas.functions import pandas_udf  # noqa: PLC0415

    value = f.col("value")
    if kind == "integers":
        return value, f.coalesce((value < 0) | (value >= P), f.lit(False)), f.lit(False)  # noqa: FBT003
    is_number = value.rlike(NUMBER)
    number = f.when(is_number, f.expr("try_cast(value as bigint)"))
    udf: Any = pandas_udf
    is_event = udf(are_events, "boolean")
    wrong = f.when(is_number, number >= P).otherwise(~is_event(value))
    return number, f.coalesce(wrong, f.lit(False)), f.coalesce(value == f'"{RESET}"', f.lit(False))  # noqa: FBT003
