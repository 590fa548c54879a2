"""
Every line between us and an engine, with its time and its direction: for whoever writes an adapter.

A transcript is text for people. What we said can be said again (`sed -n 's/^ *[0-9.]* -> //p' FILE | ./adapter`);
what the engine said is shown as it came, but for what would move a cursor, and for the rest of a line without end.
"""

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Literal, TypeAlias

from attrs import frozen

from conformance.errors import Unwritable, printable

LONGEST = 100_000
"""Characters of a line that are kept."""


@frozen
class Said:
    """A line that we sent, one that we got, or a remark on what happened between them."""

    t: float
    way: Literal["->", "<-", "--"]
    line: str

    def __str__(self) -> str:
        return f"{self.t:10.3f} {self.way} {self.line}"


Hears: TypeAlias = Callable[[Said], None]
"""Whoever wants to hear what is said."""


def shown(line: bytes) -> str:
    """A hostile line, fit to be kept and looked at."""
    text = printable(line[: 4 * LONGEST].decode("utf-8", "backslashreplace"))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(line)} bytes)"


class Transcript:
    """A new file with all that is said, each line in it before the next is said."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.open("x").close()
        except FileExistsError:
            raise Unwritable(str(path), "there is such a file already", "Give a new one.") from None
        except OSError as error:
            raise Unwritable(str(path), error.strerror or str(error), "Give another file.") from None

    def __call__(self, said: Said) -> None:
        """Hear something."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{said}\n")


class Clock:
    """Says things with the time since it was made, if anybody hears them."""

    def __init__(self, hears: Hears | None) -> None:
        self._hears = hears
        self._began = monotonic()

    def sent(self, line: bytes) -> None:
        """We said this."""
        self._say("->", line)

    def received(self, line: bytes) -> None:
        """The engine said this."""
        self._say("<-", line)

    def remark(self, what: str) -> None:
        """Neither said it; it happened."""
        self._say("--", what.encode())

    def _say(self, way: Literal["->", "<-", "--"], line: bytes) -> None:
        if self._hears is not None:
            self._hears(Said(monotonic() - self._began, way, shown(line)))
