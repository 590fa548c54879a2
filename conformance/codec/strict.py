"""Strict reading: text to JSON, JSON to fields, and every refusal with its file and JSON path."""

import json
import os
from collections.abc import Callable, Mapping
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

import attrs

from conformance.errors import Malformed, Unreadable, quote

LARGEST_FILE = 64 * 2**20
LONGEST_INTEGER = 400
"""In digits. Python refuses to read more than 4,300, with an error of its own."""

DEEPEST = 100
"""How deep uninterpreted values (settings, logs) may be nested."""

T = TypeVar("T")


def read(path: Path, decode: Callable[[Any], T]) -> T:
    """Read a JSON file and decode it; a refusal names the file."""
    try:
        return decode(parse(_text(path)))
    except Malformed as refused:
        refused.file = str(path)
        raise


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        because = getattr(error, "strerror", None) or str(error)
        raise Unreadable(str(path), because, "Give the path of a JSON file.") from None
    if len(raw) > LARGEST_FILE:
        raise Unreadable(str(path), f"it is larger than {LARGEST_FILE >> 20} MiB", "Split it into smaller ones.")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(str(path), f"byte {error.start} is not UTF-8", "Save it as UTF-8 JSON.") from None


class _Ambiguous(dict[str, Any]):
    """An object with a key twice. It is refused when its fields are read, because only then its path is known."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        keys = [key for key, _ in pairs]
        self.twice = next(key for key in keys if keys.count(key) > 1)


class _Endless:
    """An integer too long to read. No field accepts it; the refusal shows its `repr`."""

    def __init__(self, digits: str) -> None:
        self.digits = len(digits)

    def __repr__(self) -> str:
        return f"an integer of {self.digits} digits"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    return value if len(value) == len(pairs) else _Ambiguous(pairs)


def _integer(digits: str) -> int | _Endless:
    return int(digits) if len(digits) <= LONGEST_INTEGER else _Endless(digits)


def parse(text: str) -> Any:
    """Parse JSON text. A key twice and an endless integer are only marked, to be refused where their path is known."""
    try:
        return json.loads(text, object_pairs_hook=_object, parse_int=_integer)
    except json.JSONDecodeError as error:
        found = f"a syntax error at line {error.lineno}, column {error.colno} ({error.msg.lower()})"
        raise Malformed(found if text.strip() else "an empty file", "JSON") from None
    except RecursionError:
        raise Malformed("values nested too deeply to read", "a shallow document") from None


def check_format(value: object, wanted: str) -> None:
    """Check the format before the fields: for a file of the wrong kind, that is the error worth reporting."""
    form = mapping(value).get("format", wanted)
    if form != wanted:
        raise Malformed(quote(form), f'"{wanted}"', path=("format",))


def tagged(value: object, tag: str, classes: Mapping[str, type[T]]) -> T:
    """Build the class that `tag` names from the other fields: programs by op, failures by kind."""
    fields = mapping(value)
    name = fields.get(tag)
    if not isinstance(name, str) or name not in classes:
        found = quote(name) if tag in fields else f"no {tag}"
        raise Malformed(found, "one of " + ", ".join(classes), path=(tag,))
    kind: Any = classes[name]
    required = tuple(field.name for field in attrs.fields(kind) if field.default is attrs.NOTHING)
    optional = tuple(field.name for field in attrs.fields(kind) if field.default is not attrs.NOTHING)
    del fields[tag]
    return kind(**fields_of(fields, required=required, optional=optional))  # type: ignore[no-any-return]


def checked_json(value: Any, depth: int = 0) -> Any:
    """
    Return a value if it can be written again as it was read; refuse it otherwise.

    That is: no key twice, no endless integer, no NaN, no half of a surrogate pair, not nested beyond reason. It is for
    values that are stored uninterpreted: settings, logs, whole lines of an engine.
    """
    if depth > DEEPEST:
        raise Malformed(f"values nested more than {DEEPEST} deep", "a shallow value")
    if isinstance(value, _Endless) or (isinstance(value, float) and not isfinite(value)):
        raise Malformed(quote(value), "a number")
    if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
        raise Malformed("half of a surrogate pair", "Unicode characters")
    if isinstance(value, dict):
        for key, each in mapping(value).items():
            checked_json(key)
            checked_json(each, depth + 1)
    elif isinstance(value, list):
        for each in value:
            checked_json(each, depth + 1)
    return value


def mapping(value: object) -> dict[str, Any]:
    """Check for a JSON object with every key once, and return a copy of it."""
    if isinstance(value, _Ambiguous):
        raise Malformed(f"the key {quote(value.twice)} twice", "every key once")
    if not isinstance(value, dict):
        raise Malformed(quote(value), "an object")
    return dict(value)


def fields_of(value: object, *, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the fields of a JSON object: all that are required, and none that are unknown."""
    fields = mapping(value)
    for key in fields:
        if key not in required and key not in optional:
            allowed = ", ".join(required + optional) or "no fields"
            raise Malformed("an unknown field", allowed, path=(key,))
    for key in required:
        if key not in fields:
            raise Malformed(f"no field {key}", f"the fields {', '.join(required)}")
    return fields


def list_of(decode: Callable[[Any], T], value: object) -> tuple[T, ...]:
    """Decode each item of a JSON list."""
    if not isinstance(value, list):
        raise Malformed(quote(value), "a list")
    items = []
    for index, item in enumerate(value):
        try:
            items.append(decode(item))
        except Malformed as refused:
            refused.path = (index, *refused.path)
            raise
    return tuple(items)


def identity(value: Any) -> Any:
    """Return an item that needs no decoding; the value that it becomes part of validates it."""
    return value


def tuple_if_list(value: Any) -> Any:
    """Turn a list into the tuple that frozen values hold; anything else is left for them to refuse."""
    return tuple(value) if isinstance(value, list) else value


def given_fields(value: Any) -> dict[str, Any]:
    """Return the fields that were given: an optional one that is None is left out, as in the file it came from."""
    return attrs.asdict(value, recurse=False, filter=lambda _, found: found is not None)


def write_text(path: Path, text: str) -> None:
    """Write a file atomically: after a power failure it is there whole or not at all."""
    unfinished = path.with_name(f".{path.name}.part")
    with unfinished.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
