"""
Where the operators of a case and whoever drives it leave word for each other: files in the folder of the job.

Notes go one way, a line for each thing that an operator did; marks the other way, an empty file for each thing that it
may do. That a failure has struck is a file as well, made by whoever strikes: it is there whole or not at all, and once.
"""

import os
import time
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from attrs import define, field, frozen

PATIENCE = 20.0
"""Seconds that an operator is held back at the most, whatever became of those who hold it."""

SLOWLY = "slowly"
"""The mark that operators are not to begin yet."""


@frozen
class Desk:
    """The files of one case of a job."""

    folder: str
    case: int

    def _path(self, kind: str, name: str) -> str:
        return os.path.join(self.folder, kind, f"{self.case}-{name}")  # noqa: PTH118 - often, and so at little cost

    def prepare(self) -> None:
        """Make the folders, once for a job."""
        for kind in ("notes", "marks", "struck"):
            Path(self.folder, kind).mkdir(parents=True, exist_ok=True)

    def note(self, what: str, who: str, me: str, epoch: int = 0) -> None:
        """An operator says what it did: a short line is written in one piece."""
        number = os.open(self._path("notes", "all"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            os.write(number, f"{what} {who} {me} {epoch} {time.time():.4f}\n".encode())
        finally:
            os.close(number)

    def notes(self, after: int) -> tuple[list["Note"], int]:
        """What was noted behind a place in the file, and the place to go on from."""
        place = self._path("notes", "all")
        with suppress(FileNotFoundError):
            if os.stat(place).st_size == after:  # noqa: PTH116 - often, and so at little cost
                return [], after
            with Path(place).open("rb") as file:
                file.seek(after)
                whole, end, _ = file.read().rpartition(b"\n")
            lines = [line.split() for line in whole.decode("ascii").splitlines()]
            made = [Note(what, who, me, int(epoch), float(t)) for what, who, me, epoch, t in lines]
            return made, after + len(whole) + len(end)
        return [], after

    def opened(self, who: str) -> str:
        """
        An operator is ready to begin, in a new incarnation. If somebody wants to strike while operators are restored,
        it says that it is about to be, and takes its time.
        """
        me = uuid4().hex[:12]
        if self.is_marked(SLOWLY):
            self.wait("opens", who, me)
        self.note("open", who, me)
        return me

    def wait(self, what: str, who: str, me: str, epoch: int = 0) -> None:
        """An operator stands still until whoever drives the job has had enough of it."""
        self.note(what, who, me, epoch)
        until = time.monotonic() + PATIENCE
        go_on = f"{what}-{me}-{epoch}" if what != "opens" else None
        while time.monotonic() < until and (self.is_marked(SLOWLY) if go_on is None else not self.is_marked(go_on)):
            time.sleep(0.001)

    def unmark(self, name: str) -> None:
        """Take a mark back."""
        Path(self._path("marks", name)).unlink(missing_ok=True)

    def mark(self, name: str) -> None:
        """Let an operator do something."""
        Path(self._path("marks", name)).touch()

    def is_marked(self, name: str) -> bool:
        """Whether an operator may do something."""
        return os.path.exists(self._path("marks", name))  # noqa: PTH110 - often, and so at little cost

    def strike(self, failure: int, evidence: str) -> bool:
        """A failure strikes; whether it is the first time, as only then it does."""
        place = self._path("struck", str(failure))
        whole = Path(f"{place}.{uuid4().hex}")
        whole.write_text(f"{time.time():.4f} {evidence}", encoding="utf-8")
        try:
            os.link(whole, place)
        except FileExistsError:
            return False
        finally:
            whole.unlink()
        return True

    def has_struck(self, failure: int) -> bool:
        """Whether a failure has struck."""
        return os.path.exists(self._path("struck", str(failure)))  # noqa: PTH110 - often, and so at little cost

    def struck(self, failure: int) -> tuple[float, str]:
        """When a failure has struck, and how one knows."""
        t, _, evidence = Path(self._path("struck", str(failure))).read_text(encoding="utf-8").partition(" ")
        return float(t), evidence


@frozen
class Waits:
    """The epochs in which a task is held back: before it begins them, and before it passes their borders."""

    begins: frozenset[int] = frozenset()
    borders: frozenset[int] = frozenset()


@frozen
class Note:
    """What an operator (`who`, in this incarnation `me`) did, and in which epoch."""

    what: str
    who: str
    me: str
    epoch: int
    t: float


@define
class Progress:
    """How far the operators of a case are, each since it was last opened."""

    desk: Desk
    me: dict[str, str] = field(factory=dict)
    """By operator, its present incarnation."""
    opened: dict[str, float] = field(factory=dict)
    """By operator, when that began."""
    passed: dict[str, int] = field(factory=dict)
    """By operator, the last border that it has passed in it."""
    waiting: dict[tuple[str, str], tuple[str, int, float]] = field(factory=dict)
    """By operator and what it waits for: its incarnation, the epoch, and since when."""
    opening: dict[str, str] = field(factory=dict)
    """The operators that are about to be opened, and their incarnations to be."""
    newest: float = 0.0
    _read: int = 0

    def look(self) -> None:
        """Take in what was noted since."""
        notes, self._read = self.desk.notes(self._read)
        for note in notes:
            self.newest = note.t
            if note.what == "opens":
                self.opening[note.who] = note.me
            elif note.what == "open":
                self.opening.pop(note.who, None)
                self.me[note.who] = note.me
                self.opened[note.who] = note.t
                self.passed.pop(note.who, None)
                self.waiting = {key: value for key, value in self.waiting.items() if key[0] != note.who}
            elif note.me == self.me.get(note.who):
                if note.what == "border":
                    self.passed[note.who] = note.epoch
                else:
                    self.waiting[note.who, note.what] = (note.me, note.epoch, note.t)

    def let(self, who: str, what: str) -> None:
        """Let an operator that waits go on."""
        me, epoch, _ = self.waiting.pop((who, what))
        self.desk.mark(f"{what}-{me}-{epoch}")
