"""
The committed output of a streaming query: the micro-batches in Spark's commit log, and their rows in the sink.

Rows are returned as they are: gaps stay gaps, and duplicates stay duplicates.
"""

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from conformance.adapters.spark.setup import FILE, FOREACH_APPEND, FOREACH_BATCH

PART = "part-*.json"

EpochRows: TypeAlias = dict[tuple[int, str], list[dict[str, Any]]]
"""The rows of one epoch in the sink, by case and stream."""

BatchFiles: TypeAlias = tuple[Path, ...]
"""The files that one attempt at a micro-batch has written."""


class SinkReader(Protocol):
    """A reader of the files in a sink."""

    def read(self, batches: int) -> tuple[BatchFiles, ...]:
        """Return the files in the sink, in order, when so many micro-batches are committed."""
        ...


class FileSinkReader:
    """Spark's file sink: its log has the files of each micro-batch; other files are from failed attempts."""

    def __init__(self, out: Path) -> None:
        self._log = out / "_spark_metadata"
        self._found: tuple[BatchFiles, ...] = ()

    def read(self, batches: int) -> tuple[BatchFiles, ...]:
        while len(self._found) < batches:
            entry = (self._log / str(len(self._found))).read_text(encoding="utf-8").splitlines()[1:]
            files = tuple(Path(json.loads(line)["path"].removeprefix("file://")) for line in entry)
            self._found += (files,)
        return self._found


class BatchFolderReader:
    """A sink with a folder for each micro-batch."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._found: tuple[BatchFiles, ...] = ()

    def read(self, batches: int) -> tuple[BatchFiles, ...]:
        while len(self._found) < batches:
            self._found += (tuple((self._out / f"batch={len(self._found)}").glob(PART)),)
        return self._found


class AppendedFilesReader:
    """
    A sink with one folder to which every attempt at every micro-batch adds files. All of them are output.

    The names of the files show the attempt: `part-00000-<attempt>-c000.json`.
    """

    def __init__(self, out: Path) -> None:
        self._out = out

    def read(self, batches: int) -> tuple[BatchFiles, ...]:  # noqa: ARG002 - the files do not name their micro-batch
        by_attempt: dict[str, list[Path]] = {}
        for file in sorted(self._out.glob(PART)):
            by_attempt.setdefault(file.name.split("-", 2)[2], []).append(file)
        return tuple(map(tuple, by_attempt.values()))


class OffsetLog:
    """
    The epochs of each micro-batch: Spark's offset log has the last input file of each, and each file is an epoch.

    A micro-batch usually has one epoch. But if a driver dies after it wrote a file to the source log and before it
    wrote the offset log, then the next driver adds another file, and its micro-batch has both.
    """

    def __init__(self, folder: Path) -> None:
        self._log = folder / "checkpoint" / "offsets"
        self._ends: list[int] = []

    def end(self, batch: int) -> int | None:
        """Return the last epoch of a micro-batch, or None if it is not in the log yet."""
        while len(self._ends) <= batch:
            try:
                last = (self._log / str(len(self._ends))).read_text(encoding="utf-8").splitlines()[-1]
            except FileNotFoundError:
                return None
            self._ends.append(json.loads(last)["logOffset"] + 1)
        return self._ends[batch]

    def batch(self, epoch: int) -> int:
        """Return the micro-batch of an epoch; for an epoch that has none yet, the next micro-batch."""
        batch = 0
        while (end := self.end(batch)) is not None and end < epoch:
            batch += 1
        return batch


READERS: dict[str, Callable[[Path], SinkReader]] = {
    FILE: FileSinkReader,
    FOREACH_BATCH: BatchFolderReader,
    FOREACH_APPEND: AppendedFilesReader,
}


class CommittedBatches:
    """The committed output of a query, by epoch."""

    def __init__(self, folder: Path, sink: str) -> None:
        self._offsets = OffsetLog(folder)
        self._commits = folder / "checkpoint" / "commits"
        self._sink = READERS[sink](folder / "out")
        self._batches = 0
        self._cache: tuple[object, list[EpochRows]] = (None, [])

    @property
    def batches(self) -> int:
        """The number of committed micro-batches."""
        while (self._commits / str(self._batches)).exists():
            self._batches += 1
        return self._batches

    def __len__(self) -> int:
        """Return the number of committed epochs."""
        batches = self.batches
        return (self._offsets.end(batches - 1) or 0) if batches else 0

    def epochs(self) -> Sequence[EpochRows]:
        """Return the rows of every committed epoch, in order."""
        committed = len(self)
        source = committed, self._sink.read(self._batches)
        if self._cache[0] != source:
            found: list[EpochRows] = [{} for _ in range(committed)]
            for files in source[1]:
                for row in _rows(files):
                    if row["epoch"] <= committed:
                        found[row["epoch"] - 1].setdefault((row["case"], row["stream"]), []).append(row)
            self._cache = source, found
        return self._cache[1]


@lru_cache(maxsize=100)
def _rows(files: BatchFiles) -> list[dict[str, Any]]:
    """Read the rows of one attempt, sorted by sequence number because partitions have no order."""
    rows = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return sorted(rows, key=lambda row: row["seq"])
