"""
Events in a Parquet dataset: one row for each message of a stream, borders included.

docs/reference/observations.md defines the rows. This module opens a dataset: it exists, is complete, is Parquet, and
has the columns. `segments` checks the rows.
"""

from pathlib import Path
from typing import Any, Literal, TypeAlias

from attrs import frozen

from conformance.errors import Malformed, Unreadable, quote

Kind: TypeAlias = Literal["integers", "text"]
"""Whether the events are integers, in a column of integers, or any events, each as JSON in a column of text."""

OBSERVED = ("observation", "stream", "epoch", "seq", "value")
RECORDED = OBSERVED[1:]

DONE = "_SUCCESS"
"""The file that marks a folder as completely written."""


@frozen
class OpenDataset:
    """A dataset that can be read: its path, the type of its values, and its columns."""

    path: Path
    kind: Kind
    columns: tuple[str, ...]

    def frame(self, spark: Any) -> Any:
        """Return its rows as a data frame."""
        from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark` may not be installed

        rows = spark.read.parquet(f"file://{_escaped(str(self.path))}")
        value = f.col("value").cast("long" if self.kind == "integers" else "string")
        integers = [
            f.col(name).cast("long").alias(name) for name in self.columns if name in {"observation", "epoch", "seq"}
        ]
        return rows.select(*integers, f.col("stream"), value.alias("value"))


def open_dataset(path: Path, columns: tuple[str, ...]) -> OpenDataset:
    """Open a dataset; refuse one that is missing, incomplete, not Parquet, or has other columns."""
    kinds = [_kind(file, columns) for file in _files(path)]
    schemas = {schema for _, schema in kinds}
    if len(schemas) > 1:
        raise Malformed("files with columns of different types", "the same types in every file", file=str(path))
    return OpenDataset(path.absolute(), kinds[0][0], columns)


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise Unreadable(str(path), "there is no such file or folder", "The dataset belongs beside the JSON file.")
    inside = sorted(path.iterdir())
    if not any(each.name == DONE for each in inside):
        raise Unreadable(
            str(path),
            f"there is no {DONE} in it, so it may be half-written",
            f"Write it again; a program that writes such a folder puts an empty file {DONE} into it at the end.",
        )
    found = [each for each in inside if not each.name.startswith(("_", "."))]
    if folders := [each.name for each in found if not each.is_file()]:
        raise Unreadable(str(path), f"{quote(folders[0])} in it is no file", "Give a folder of Parquet files only.")
    if not found:
        raise Unreadable(str(path), "there is no Parquet file in it", "Write at least one, even without rows.")
    return found


def _kind(file: Path, columns: tuple[str, ...]) -> tuple[Kind, str]:
    import pyarrow as pa  # noqa: PLC0415 - it comes with the extra `spark`
    from pyarrow import parquet  # noqa: PLC0415

    try:
        schema = parquet.read_schema(file)
    except (pa.ArrowException, OSError) as error:
        because = f"it is no Parquet file, or incomplete ({str(error).splitlines()[0]})"
        raise Unreadable(str(file), because, "Write it again.") from None
    for name in schema.names:
        if name not in columns or schema.names.count(name) > 1:
            raise Malformed(f"a column {quote(name)}", f"the columns {', '.join(columns)}, each once", file=str(file))
    for name in columns:
        if name not in schema.names:
            raise Malformed(f"no column {name}", f"the columns {', '.join(columns)}", file=str(file))
    types = {name: _type(schema.field(name).type) for name in columns}
    for name, found in types.items():
        wanted = {"stream": ("text",), "value": ("integers", "text")}.get(name, ("integers",))
        if found not in wanted:
            raise Malformed(
                f"a column of type {schema.field(name).type}", f"{' or '.join(wanted)}", path=(name,), file=str(file)
            )
    return ("integers" if types["value"] == "integers" else "text"), ", ".join(
        str(schema.field(name).type) for name in columns
    )


def _type(type_: Any) -> str:
    from pyarrow import types  # noqa: PLC0415 - as above

    if types.is_dictionary(type_):
        type_ = type_.value_type
    if types.is_integer(type_) and not types.is_uint64(type_):
        return "integers"
    return "text" if types.is_string(type_) or types.is_large_string(type_) else str(type_)


def _escaped(path: str) -> str:
    """Escape the characters of a path that Spark takes for patterns."""
    return "".join(f"\\{each}" if each in "*?[]{}\\" else each for each in path)
