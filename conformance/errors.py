"""Everything raised on purpose. Each error has an exit code and says what is wrong, where, and what to do."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import ClassVar, TypeAlias

JsonPath: TypeAlias = tuple[str | int, ...]

SHOWN = 80
"""How many characters of a hostile value an error quotes."""


class ConformanceError(Exception):
    """The root of what we raise on purpose; anything else that escapes is a bug of ours."""

    exit_code: ClassVar[int] = 70


class Malformed(ConformanceError):
    """
    A value that a reader refuses: where it stands, what was found, what was expected.

    Values validate themselves on construction and know only their own part of the path; the value that holds them adds
    the rest with `inside`, and the reader of a file adds the file.
    """

    exit_code = 2

    def __init__(self, found: str, expected: str, *, path: JsonPath = (), file: str | None = None) -> None:
        super().__init__(found, expected, path, file)
        self.found = found
        self.expected = expected
        self.path = path
        self.file = file

    def __str__(self) -> str:
        where = f"{self.file}: {dotted(self.path)}" if self.file else dotted(self.path)
        return f"{where}: found {self.found}; expected {self.expected}"


class Unreadable(ConformanceError):
    """A file that cannot be read at all: missing, a folder, too large, not text."""

    exit_code = 2

    def __init__(self, file: str, because: str, hint: str) -> None:
        super().__init__(file, because, hint)
        self.file = file
        self.because = because
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.file}: {self.because}. {self.hint}"


class Unwritable(Unreadable):
    """A place where nothing can be written, or where something would be overwritten."""


class UnknownEngine(ConformanceError):
    """A name or a setting that no engine here has."""

    exit_code = 2


class EngineUnavailable(ConformanceError):
    """An engine that cannot be run here: what is missing, and how to get it."""

    exit_code = 4


class EngineFailed(ConformanceError):
    """An engine that was run and failed us: it raised, or its answer is not of the protocol."""

    exit_code = 4

    def __init__(self, message: str, *, artifacts: Path | None = None) -> None:
        super().__init__(message)
        self.artifacts = artifacts
        """A folder with the files that it left, if these are kept."""


class Unsupported(ConformanceError):
    """A case that needs something of an engine that the engine does not support."""

    exit_code = 3


class Inapplicable(ConformanceError):
    """A step of a trace that the configuration before it does not allow."""

    exit_code = 1

    def __init__(self, index: int, step: str, because: str) -> None:
        super().__init__(index, step, because)
        self.index = index
        self.step = step
        self.because = because

    def __str__(self) -> str:
        return f"step {self.index} of the trace, {self.step}, does not apply: {self.because}"


class OutOfBudget(ConformanceError):
    """A search that was stopped, so nothing is known."""

    exit_code = 3


def quote(value: object) -> str:
    """
    Make a hostile value fit for one line of a terminal.

    `ascii` escapes control characters and right-to-left marks; a container is named, not shown, because
    showing a large or deeply nested one is itself an attack.
    """
    match value:
        case dict():
            return f"an object of {len(value)} fields"
        case list() | tuple():
            return f"a list of {len(value)}"
        case str():
            text = ascii(value[: SHOWN + 1])
        case bool() | None:
            return {True: "true", False: "false", None: "null"}[value]
        case int() if value.bit_length() > 4 * SHOWN:
            return f"an integer of {value.bit_length()} bits"
        case _:
            text = ascii(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def printable(text: str) -> str:
    """Escape what cannot be printed in a hostile line: control characters, marks that turn the line around."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def dotted(path: JsonPath) -> str:
    """Write a JSON path as people do: `$.graph.tasks[0].inputs`."""
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{_shown_key(part)}" for part in path)


def _shown_key(key: str) -> str:
    plain = len(key) <= SHOWN and key.replace("-", "_").isidentifier() and key.isascii()
    return key if plain else quote(key)


@contextmanager
def inside(*path: str | int) -> Iterator[None]:
    """Prefix the path of every refusal within this block: it is at `path` of the value that holds it."""
    try:
        yield
    except Malformed as refused:
        refused.path = (*path, *refused.path)
        raise


def install_hint(extra: str) -> str:
    """Say how to install an extra. No package index has the suite yet, so it is installed from a checkout of it."""
    return f"in the checkout of dataflow-conformance, pip install '.[{extra}]'"


def require_version(engine: str, version: str, supported: Sequence[str]) -> None:
    """Refuse a version of an engine that the adapter was not made for. `supported` are the first parts of versions."""
    if not any(version == each or version.startswith(f"{each}.") for each in supported):
        hint = install_hint(engine)
        raise EngineUnavailable(f"{engine} {version} is not supported, {' and '.join(supported)} is: {hint}")


def nearest(name: str, choices: Iterable[str], number: int = 1) -> list[str]:
    """Return the choices that are spelled like a name, the nearest first; upper case does not matter."""
    by_lower = {choice.lower(): choice for choice in choices}
    return [by_lower[found] for found in get_close_matches(name.lower(), by_lower, n=number)]


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """Return a question to append to an error message; the empty string if no choice is near."""
    return "".join(f". Did you mean {choice!r}?" for choice in nearest(name, choices))
