"""
Output that Flink has committed, and the checkpoint that each part of it belongs to.

Both are read off the metadata of checkpoints and the folders of sinks, and nothing else. A file sink writes what is
between two checkpoints into files of its own. When a checkpoint is complete, the names of these files are in its
metadata; then, one by one, the files get the names under which they can be read. So the first checkpoint that names a
file is the one it belongs to, and a stream shows an epoch when every file of the epoch is there.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from attrs import define, field, frozen

from conformance.adapters.flink.rows import DataRow, parse_row
from conformance.case import Epochs
from conformance.programs import Event

SINK_FILE = re.compile(rb"/sinks/(\d+)/([a-z][a-z0-9_-]*)/(part-[0-9a-f-]+-\d+)")

CheckpointRef: TypeAlias = tuple[int, int]
"""A checkpoint: the index of its job, and its number in that job. A savepoint follows all checkpoints of its job."""

SAVEPOINT = 10**9
"""The number of the savepoint that a job leaves when it is stopped."""


@frozen(slots=False)
class SinkFile:
    """A file of a sink, and the checkpoint that it belongs to."""

    checkpoint: CheckpointRef
    path: Path

    @property
    def order(self) -> tuple[CheckpointRef, int]:
        """Sort key: the files of one checkpoint are in the order in which they were begun."""
        return self.checkpoint, int(self.path.name.rpartition("-")[2])

    @property
    def is_visible(self) -> bool:
        """Whether it has been committed."""
        return "rows" in self.__dict__ or self.path.exists()

    @cached_property
    def rows(self) -> tuple[DataRow, ...]:
        """Its content, which does not change once it is visible."""
        return _read_rows(self.path)

    def events(self, stream: str) -> tuple[Event, ...]:
        """Return the events of a stream in it."""
        return _events(self.rows, stream)


def _read_rows(path: Path) -> tuple[DataRow, ...]:
    """Read a file of a sink: rows as Flink prints them, each with its key before the text of `rows.format_row`."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return tuple(parse_row(line.removeprefix("+I[").removesuffix("]").partition(", ")[2]) for line in lines)


def _events(rows: Sequence[DataRow], stream: str) -> tuple[Event, ...]:
    """Return the events of a stream among rows, without its borders."""
    return tuple(row.event for row in rows if row.stream == stream and row.event is not None)


@define
class CommittedOutput:
    """The checkpoints of the jobs that a group of cases ran in, one after the other, and the files that they name."""

    folder: Path
    jobs: list[str] = field(factory=list)
    """Flink's ids of the jobs, in order."""
    checkpoints: list[CheckpointRef] = field(factory=list)
    """Those that are complete, in order."""
    _files: dict[tuple[int, str], list[SinkFile]] = field(factory=dict)
    _named: set[Path] = field(factory=set)
    _read: set[Path] = field(factory=set)
    _visible: dict[tuple[int, str], list[Path]] = field(factory=dict)

    def checkpoint(self, number: int) -> CheckpointRef:
        """Return the checkpoint with this number of the current job."""
        return len(self.jobs) - 1, number

    def update(self) -> None:
        """
        Find the files that can be seen, and then the checkpoints that are new.

        A file can be seen only after the checkpoint that names it is complete. So a file that no checkpoint names then
        will not be named later.
        """
        self._visible = {}
        for path in sorted(self.folder.glob("sinks/*/*/part-*")):
            self._visible.setdefault((int(path.parts[-3]), path.parts[-2]), []).append(path)
        found = sorted(
            ((index, int(path.parent.name.removeprefix("chk-"))), path)
            for index, job in enumerate(self.jobs)
            for path in (self.folder / "checkpoints" / job).glob("chk-*/_metadata")
            if path not in self._read
        )
        for checkpoint, path in found:
            # Flink removes the metadata of a checkpoint that it could not complete, as when a job stops meanwhile.
            with suppress(FileNotFoundError):
                self._add(checkpoint, path)

    def add_savepoint(self, savepoint: Path) -> None:
        """Add the savepoint with which the current job was stopped."""
        self._add(self.checkpoint(SAVEPOINT), savepoint / "_metadata")

    def _add(self, checkpoint: CheckpointRef, metadata: Path) -> None:
        """Add a complete checkpoint. The files that it names and no checkpoint before it belong to it."""
        named = sorted(set(SINK_FILE.findall(metadata.read_bytes())))
        self._read.add(metadata)
        self.checkpoints.append(checkpoint)
        self.checkpoints.sort()
        for case, stream, name in named:
            path = self.folder / "sinks" / case.decode() / stream.decode() / name.decode()
            if path not in self._named:
                self._named.add(path)
                files = self._files.setdefault((int(case), stream.decode()), [])
                files.append(SinkFile(checkpoint, path))
                files.sort(key=lambda file: file.order)

    def files(self, checkpoint: CheckpointRef) -> list[Path]:
        """Return the files that belong to a checkpoint."""
        return [file.path for files in self._files.values() for file in files if file.checkpoint == checkpoint]

    def ends(self, case: int) -> list[CheckpointRef]:
        """Return the checkpoints that files of a case belong to: where epochs end, if these are Flink's own."""
        files = [file for (number, _), files in self._files.items() if number == case for file in files]
        return sorted({file.checkpoint for file in files})

    def shows_border(self, case: int, tap: str, stream: str, epoch: int) -> bool:
        """Tell whether a border of a stream has been committed; behind its last border a stream has nothing."""
        files = self._files.get((case, tap), [])
        return any(DataRow(stream, epoch) in file.rows for file in files if file.is_visible)

    def epochs(self, case: int, tap: str, stream: str, ends: Sequence[CheckpointRef], *, last: bool) -> Epochs:
        """
        Return what a stream shows: the epochs that end with these checkpoints, up to the first incomplete one.

        Visible events that belong to no checkpoint are shown behind all epochs, so that the judge sees them. At the
        last observation, so are events of later checkpoints.
        """
        files = self._files.get((case, tap), [])
        shown: list[tuple[Event, ...]] = []
        begin: CheckpointRef = (-1, 0)
        for end in ends:
            own = [file for file in files if begin < file.checkpoint <= end]
            if not all(file.is_visible for file in own):
                break
            shown.append(tuple(event for file in own for event in file.events(stream)))
            begin = end
        else:
            late = [
                event for file in files if file.checkpoint > begin and file.is_visible for event in file.events(stream)
            ]
            unnamed = [path for path in self._visible.get((case, tap), []) if path not in self._named]
            unknown = [event for path in unnamed for event in _events(_read_rows(path), stream)]
            if unknown or (late and last):
                shown.append(tuple(late + unknown))
        return tuple(shown)
