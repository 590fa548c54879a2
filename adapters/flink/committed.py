"""
What Flink has committed, and with which checkpoint: read off its checkpoints and its sinks' folders, and nothing else.

A file sink writes what is between two checkpoints into files of its own. When a checkpoint is complete, their names
stand in its metadata; then, one by one, they are given the names under which anybody may read them. So the first
checkpoint that names a file is the one it belongs to, and a stream shows an epoch when every file of it is there.
"""

import json
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from attrs import define, field, frozen

from conformance.case import Epochs

PART = re.compile(rb"/sinks/(\d+)/([a-z][a-z0-9_-]*)/(part-[0-9a-f-]+-\d+)")

Point: TypeAlias = tuple[int, int]
"""A checkpoint: which job it is of, and its number there. What a job leaves behind when it is stopped comes last."""

SAVEPOINT = 10**9


@frozen(slots=False)
class Part:
    """A file of a sink, and the checkpoint that it belongs to."""

    point: Point
    path: Path

    @property
    def order(self) -> tuple[Point, int]:
        """Files of one checkpoint are in the order in which they were begun."""
        return self.point, int(self.path.name.rpartition("-")[2])

    @property
    def is_visible(self) -> bool:
        """Whether it has been committed."""
        return "rows" in self.__dict__ or self.path.exists()

    @cached_property
    def rows(self) -> tuple[Any, ...]:
        """What is in it."""
        return rows_of(self.path)

    def events(self, stream: str) -> tuple[Any, ...]:
        """The events of a stream in it."""
        return events_of(self.rows, stream)


def rows_of(path: Path) -> tuple[Any, ...]:
    """What is in a file of a sink: rows as Flink prints them, each a text of `operators.text`."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return tuple(json.loads(line.removeprefix("+I[").removesuffix("]").partition(", ")[2]) for line in lines)


def events_of(rows: Sequence[Any], stream: str) -> tuple[Any, ...]:
    """The events of a stream among rows: what is no border."""
    return tuple(event for name, _, *rest in rows if name == stream for event in rest)


@define
class Committed:
    """The checkpoints of the jobs that a case ran in, one after the other, and the files that they name."""

    folder: Path
    jobs: list[str] = field(factory=list)
    points: list[Point] = field(factory=list)
    """Those that are complete, in order."""
    _parts: dict[tuple[int, str], list[Part]] = field(factory=dict)
    _named: set[Path] = field(factory=set)
    _read: set[Path] = field(factory=set)
    _visible: dict[tuple[int, str], list[Path]] = field(factory=dict)

    def look(self) -> None:
        """
        Take in the files that can be seen, and then the checkpoints that are new.

        A file can be seen after the checkpoint is complete that names it, so one that is unknown then is so for good.
        """
        self._visible = {}
        for path in sorted(self.folder.glob("sinks/*/*/part-*")):
            self._visible.setdefault((int(path.parts[-3]), path.parts[-2]), []).append(path)
        found = sorted(
            ((number, int(path.parent.name.removeprefix("chk-"))), path)
            for number, job in enumerate(self.jobs)
            for path in (self.folder / "checkpoints" / job).glob("chk-*/_metadata")
            if path not in self._read
        )
        for point, path in found:
            self.take(point, path)

    def take(self, point: Point, metadata: Path) -> None:
        """A checkpoint is complete: what it names, and none before it did, is its own."""
        self._read.add(metadata)
        self.points.append(point)
        self.points.sort()
        for case, stream, name in sorted(set(PART.findall(metadata.read_bytes()))):
            path = self.folder / "sinks" / case.decode() / stream.decode() / name.decode()
            if path not in self._named:
                self._named.add(path)
                parts = self._parts.setdefault((int(case), stream.decode()), [])
                parts.append(Part(point, path))
                parts.sort(key=lambda part: part.order)

    def stopped(self, savepoint: Path) -> None:
        """A job was stopped, and left a savepoint."""
        self.take((len(self.jobs) - 1, SAVEPOINT), savepoint / "_metadata")

    def files(self, point: Point) -> list[Path]:
        """The files that belong to a checkpoint."""
        return [part.path for parts in self._parts.values() for part in parts if part.point == point]

    def ends(self, case: int) -> list[Point]:
        """The checkpoints that anything of a case belongs to: where epochs end, if they are Flink's own."""
        return sorted({part.point for (number, _), parts in self._parts.items() if number == case for part in parts})

    def shows_border(self, case: int, tap: str, stream: str, epoch: int) -> bool:
        """Whether a border of the case has been committed: nothing of a stream comes behind its last."""
        parts = self._parts.get((case, tap), [])
        return any(row == [stream, epoch] for part in parts if part.is_visible for row in part.rows)

    def epochs(self, case: int, tap: str, stream: str, ends: Sequence[Point], *, last: bool) -> Epochs:
        """
        What a stream shows in the sink of a tap: the epochs that end with these checkpoints, up to the first that is
        not all there.

        What can be seen and belongs to no checkpoint at all is shown behind them, whatever that means; so is, when it
        is looked at for the last time, what belongs to another one.
        """
        parts = self._parts.get((case, tap), [])
        shown: list[tuple[Any, ...]] = []
        begun: Point = (-1, 0)
        for end in ends:
            own = [part for part in parts if begun < part.point <= end]
            if not all(part.is_visible for part in own):
                break
            shown.append(tuple(event for part in own for event in part.events(stream)))
            begun = end
        else:
            late = [event for part in parts if part.point > begun and part.is_visible for event in part.events(stream)]
            unknown = [path for path in self._visible.get((case, tap), []) if path not in self._named]
            strange = [event for path in unknown for event in events_of(rows_of(path), stream)]
            if strange or (late and last):
                shown.append(tuple(late + strange))
        return tuple(shown)
