"""
What is committed: the batches that Spark's commit log has, and what stands in the sink for each of them.

Gaps and repeats stay what they are; nothing is mended here.
"""

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from conformance.adapters.spark.setup import FILE, FOREACH_APPEND, FOREACH_BATCH

PART = "part-*.json"

Epoch: TypeAlias = dict[tuple[int, str], list[dict[str, Any]]]
"""The rows of one epoch, by case and stream, as a reader of the sink finds them."""

Attempt: TypeAlias = tuple[Path, ...]
"""Files that were written at once, by one attempt at a batch."""


class Sink(Protocol):
    """Where output is found."""

    def attempts(self, batches: int) -> tuple[Attempt, ...]:
        """What a reader finds there when so many batches are committed, the first of them first."""
        ...


class Files:
    """Spark's file sink: its own log says which files belong to a batch; others are left over from failed attempts."""

    def __init__(self, out: Path) -> None:
        self._log = out / "_spark_metadata"
        self._found: tuple[Attempt, ...] = ()

    def attempts(self, batches: int) -> tuple[Attempt, ...]:
        while len(self._found) < batches:
            entry = (self._log / str(len(self._found))).read_text(encoding="utf-8").splitlines()[1:]
            files = tuple(Path(json.loads(line)["path"].removeprefix("file://")) for line in entry)
            self._found += (files,)
        return self._found


class Folders:
    """A folder for each batch."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._found: tuple[Attempt, ...] = ()

    def attempts(self, batches: int) -> tuple[Attempt, ...]:
        while len(self._found) < batches:
            self._found += (tuple((self._out / f"batch={len(self._found)}").glob(PART)),)
        return self._found


class Heap:
    """
    One folder to which every attempt at every batch adds files: whose are there, a reader finds.

    The files of one attempt have a name in common: `part-00000-<attempt>-c000.json`.
    """

    def __init__(self, out: Path) -> None:
        self._out = out

    def attempts(self, batches: int) -> tuple[Attempt, ...]:  # noqa: ARG002 - nothing there says which is which
        by_attempt: dict[str, list[Path]] = {}
        for file in sorted(self._out.glob(PART)):
            by_attempt.setdefault(file.name.split("-", 2)[2], []).append(file)
        return tuple(map(tuple, by_attempt.values()))


class Offsets:
    """
    Which epochs a batch has: Spark's offset log says up to which input file it goes, and each file is an epoch.

    Mostly it is one. But a driver that dies when it has noted a file, and not yet that it is going to read it, leaves
    it to the next one, which takes one more and makes a batch of both.
    """

    def __init__(self, folder: Path) -> None:
        self._log = folder / "checkpoint" / "offsets"
        self._ends: list[int] = []

    def end(self, batch: int) -> int | None:
        """The last epoch of a batch, if that has been decided."""
        while len(self._ends) <= batch:
            try:
                last = (self._log / str(len(self._ends))).read_text(encoding="utf-8").splitlines()[-1]
            except FileNotFoundError:
                return None
            self._ends.append(json.loads(last)["logOffset"] + 1)
        return self._ends[batch]

    def batch(self, epoch: int) -> int:
        """The batch that has an epoch or, if it is in none yet, the next one there will be."""
        batch = 0
        while (end := self.end(batch)) is not None and end < epoch:
            batch += 1
        return batch


class Committed:
    """The output of a query, epoch by epoch."""

    def __init__(self, folder: Path, sink: str) -> None:
        self._offsets = Offsets(folder)
        self._commits = folder / "checkpoint" / "commits"
        sinks: dict[str, Callable[[Path], Sink]] = {FILE: Files, FOREACH_BATCH: Folders, FOREACH_APPEND: Heap}
        self._sink = sinks[sink](folder / "out")
        self._batches = 0
        self._known: tuple[object, list[Epoch]] = (None, [])

    @property
    def batches(self) -> int:
        """How many batches are committed."""
        while (self._commits / str(self._batches)).exists():
            self._batches += 1
        return self._batches

    def __len__(self) -> int:
        """How many epochs are committed."""
        batches = self.batches
        return (self._offsets.end(batches - 1) or 0) if batches else 0

    def epochs(self) -> Sequence[Epoch]:
        """What is there of every epoch that is committed, in their order."""
        number = len(self)
        there = number, self._sink.attempts(self._batches)
        if self._known[0] != there:
            found: list[Epoch] = [{} for _ in range(number)]
            for files in there[1]:
                for row in _rows(files):
                    if row["epoch"] <= number:
                        found[row["epoch"] - 1].setdefault((row["case"], row["stream"]), []).append(row)
            self._known = there, found
        return self._known[1]


@lru_cache(maxsize=100)
def _rows(files: Attempt) -> list[dict[str, Any]]:
    """What was written at once, by its numbers, and as much of it as there is: partitions have no order."""
    rows = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return sorted(rows, key=lambda row: row["seq"])
