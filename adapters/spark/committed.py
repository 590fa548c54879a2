"""
What is committed: the batches that Spark's commit log has, and what stands in the sink for each of them.

Gaps and repeats stay what they are; nothing is mended here.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from adapters.spark.setup import FILE, FOREACH_APPEND, FOREACH_BATCH

Batch: TypeAlias = dict[tuple[int, str], list[dict[str, Any]]]
"""The rows of one batch, by case and stream, as a reader of the sink finds them."""


class Sink(Protocol):
    """Where output is found."""

    def batch(self, number: int) -> Batch:
        """What stands there for a batch that is committed."""
        ...


class Files:
    """Spark's file sink: its own log says which files belong to a batch; others are left over from failed attempts."""

    def __init__(self, out: Path) -> None:
        self._log = out / "_spark_metadata"
        self._rows: dict[int, Batch] = {}

    def batch(self, number: int) -> Batch:
        if number not in self._rows:
            entry = (self._log / str(number)).read_text(encoding="utf-8").splitlines()[1:]
            files = [Path(json.loads(line)["path"].removeprefix("file://")) for line in entry]
            self._rows[number] = _by_stream(_rows(files))
        return self._rows[number]


class Folders:
    """A folder for each batch."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._rows: dict[int, Batch] = {}

    def batch(self, number: int) -> Batch:
        if number not in self._rows:
            self._rows[number] = _by_stream(_rows((self._out / f"batch={number}").glob("part-*.json")))
        return self._rows[number]


class Heap:
    """
    One folder to which every attempt at every batch adds files. Which batch a row belongs to, its epoch tells.

    The files of one attempt have a name in common.
    """

    def __init__(self, out: Path) -> None:
        self._out = out
        self._read: set[Path] = set()
        self._rows: dict[int, list[dict[str, Any]]] = {}

    def batch(self, number: int) -> Batch:
        new = set(self._out.glob("part-*.json")) - self._read
        for _, files in groupby(sorted(new, key=_attempt), key=_attempt):
            for row in _rows(files):
                self._rows.setdefault(row["epoch"] - 1, []).append(row)
        self._read |= new
        return _by_stream(self._rows.get(number, []))


def _attempt(file: Path) -> str:
    """`part-00000-<attempt>-c000.json`."""
    return file.name.split("-", 2)[2]


class Committed:
    """The output of a query, batch by batch."""

    def __init__(self, folder: Path, sink: str) -> None:
        self._commits = folder / "checkpoint" / "commits"
        sinks: dict[str, Callable[[Path], Sink]] = {FILE: Files, FOREACH_BATCH: Folders, FOREACH_APPEND: Heap}
        self._sink = sinks[sink](folder / "out")
        self._number = 0

    def __len__(self) -> int:
        """How many batches are committed."""
        while (self._commits / str(self._number)).exists():
            self._number += 1
        return self._number

    def batches(self) -> Sequence[Batch]:
        """Every committed batch so far, in their order."""
        return [self._sink.batch(number) for number in range(len(self))]


def _rows(files: Iterable[Path]) -> list[dict[str, Any]]:
    """What was written at once, by its numbers, and as much of it as there is: partitions have no order."""
    rows = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return sorted(rows, key=lambda row: row["seq"])


def _by_stream(rows: Iterable[dict[str, Any]]) -> Batch:
    found: Batch = {}
    for row in rows:
        found.setdefault((row["case"], row["stream"]), []).append(row)
    return found
