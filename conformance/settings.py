"""The settings of a project: `[tool.conformance]` of its pyproject.toml."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from conformance.errors import Malformed, Unreadable, quote

FILE = "pyproject.toml"
TABLE = ("tool", "conformance")


PROFILE_NAMES = ("quick", "standard", "deep")
"""The names of `campaign.plan.PROFILES`."""


Keep: TypeAlias = Literal["failed", "all", "none"]
"""Of which runs the files of the engine are kept; `failed` are those that violate, err or stall."""

KEEP: tuple[Keep, ...] = get_args(Keep)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _is_whole(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_time(value: object) -> bool:
    return type(value) in {int, float} and 0 < value < float("inf")  # type: ignore[operator]


KNOWN: dict[str, tuple[Callable[[Any], bool], str]] = {
    "engines": (lambda value: isinstance(value, list) and all(map(_is_text, value)), "a list of engines"),
    "profile": (lambda value: value in PROFILE_NAMES, f"one of {', '.join(PROFILE_NAMES)}"),
    "cases": (_is_whole, "a number from 0"),
    "seed": (_is_whole, "a number from 0"),
    "out": (_is_text, "a folder"),
    "deadline": (_is_time, "a number of seconds"),
    "shrink-runs": (_is_whole, "a number from 0"),
    "shrink-seconds": (_is_time, "a number of seconds"),
    "keep": (lambda value: value in KEEP, f"one of {', '.join(KEEP)}"),
}
"""Every setting, with its check and what it expects."""


def read_settings(folder: Path) -> dict[str, Any]:
    """
    Read the settings of the project that a folder is in, from the first pyproject.toml from there upwards.

    Names are Python names: `shrink_runs`.
    """
    for parent in (folder, *folder.parents):
        if (file := parent / FILE).is_file():
            return {name.replace("-", "_"): value for name, value in _checked(file).items()}
    return {}


def _checked(file: Path) -> dict[str, Any]:
    try:
        table: Any = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Unreadable(str(file), f"it cannot be read: {error}", "Correct it, or change to another folder.") from None
    for name in TABLE:
        table = table.get(name, {})
        if not isinstance(table, dict):
            raise Malformed(quote(table), "a table", path=(name,), file=str(file))
    for name, value in table.items():
        if name not in KNOWN:
            raise Malformed("an unknown setting", ", ".join(KNOWN), path=(*TABLE, name), file=str(file))
        is_right, wanted = KNOWN[name]
        if not is_right(value):
            raise Malformed(quote(value), wanted, path=(*TABLE, name), file=str(file))
    return dict(table)
