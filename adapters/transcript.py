"""
Transcripts: every line between the suite and an engine, with its time and its direction, for authors of adapters.

A transcript is text for people. The lines that we sent can be sent again
(`sed -n 's/^ *[0-9.]* -> //p' FILE | ./adapter`).
The lines of the engine are sanitized: control characters are escaped, and the rest of a very long line is cut off.
"""

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Literal, TypeAlias

from attrs import frozen

from conformance.errors import Unwritable, printable

LONGEST_LINE = 100_000
"""Characters of a line that a transcript has."""


@frozen
class TranscriptLine:
    """A line that we sent, one that we received, or a remark on an event between them."""

    t: float
    direction: Literal["->", "<-", "--"]
    line: str

    def __str__(self) -> str:
        return f"{self.t:10.3f} {self.direction} {self.line}"


Listener: TypeAlias = Callable[[TranscriptLine], None]
"""Receives the lines of a transcript, one by one."""


def sanitize_line(line: bytes) -> str:
    """Make a hostile line safe to keep and to show."""
    text = printable(line[: 4 * LONGEST_LINE].decode("utf-8", "backslashreplace"))
    return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}… ({len(line)} bytes)"


class Transcript:
    """A new file with all lines, each written before the next is sent or received."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.open("x").close()
        except FileExistsError:
            raise Unwritable(str(path), "there is such a file already", "Give a new one.") from None
        except OSError as error:
            raise Unwritable(str(path), error.strerror or str(error), "Give another file.") from None

    def __call__(self, line: TranscriptLine) -> None:
        """Write a line."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


class TranscriptRecorder:
    """Gives lines to a listener, if there is one, with the time since the recorder was made."""

    def __init__(self, listener: Listener | None) -> None:
        self._listener = listener
        self._began = monotonic()

    def sent(self, line: bytes) -> None:
        """Record a line that we sent."""
        self._record("->", line)

    def received(self, line: bytes) -> None:
        """Record a line that the engine sent."""
        self._record("<-", line)

    def remark(self, event: str) -> None:
        """Record an event that is no line of either side."""
        self._record("--", event.encode())

    def _record(self, direction: Literal["->", "<-", "--"], line: bytes) -> None:
        if self._listener is not None:
            self._listener(TranscriptLine(monotonic() - self._began, direction, sanitize_line(line)))
