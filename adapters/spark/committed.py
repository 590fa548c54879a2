"""What Spark's own logs say is committed: batches of the commit log, and the files that the sink's log has for each."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

Batch: TypeAlias = dict[tuple[int, str], list[dict[str, Any]]]
"""The rows of one batch, by case and stream."""


class Committed:
    """The output of a query, batch by batch, read once each."""

    def __init__(self, folder: Path) -> None:
        self._commits = folder / "checkpoint" / "commits"
        self._log = folder / "out" / "_spark_metadata"
        self._rows: list[Batch] = []

    def batches(self) -> Sequence[Batch]:
        """Every committed batch so far, in their order."""
        while (self._commits / str(len(self._rows))).exists():
            self._rows.append(self._read(len(self._rows)))
        return self._rows

    def _read(self, batch: int) -> Batch:
        """One batch. (One that wrote nothing has an entry too.)"""
        entry = (self._log / str(batch)).read_text(encoding="utf-8").splitlines()[1:]
        files = [Path(json.loads(line)["path"].removeprefix("file://")) for line in entry]
        rows: Batch = {}
        for file in files:
            for line in file.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                rows.setdefault((row["case"], row["stream"]), []).append(row)
        return rows
