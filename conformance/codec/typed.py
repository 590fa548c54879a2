"""
Frozen attrs values to JSON and back, by the types of their fields.

For values whose JSON is their fields, one by one. A value that does not fit its type is refused with its JSON path.
"""

from collections.abc import Mapping
from functools import partial
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import attrs

from conformance.codec.strict import fields_of, list_of, mapping
from conformance.errors import Malformed, inside, quote

T = TypeVar("T")

SCALARS = {int: "an integer", str: "a string", bool: "true or false", float: "a number"}

_NAME = "json name"


def json_name(name: str) -> dict[str, str]:
    """Return the metadata of an attrs field whose name in JSON is another one."""
    return {_NAME: name}


def encode(value: Any) -> Any:
    """Encode a value as JSON: the fields of an object in their order, a set sorted."""
    if attrs.has(type(value)):
        return {_name(field): encode(getattr(value, field.name)) for field in attrs.fields(type(value))}
    if isinstance(value, Mapping):
        return {key: encode(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [encode(each) for each in value]
    return sorted(value) if isinstance(value, frozenset) else value


def decode(kind: type[T], value: object) -> T:
    """Decode JSON as a value of an attrs class: every field that has no default, and no unknown one."""
    fields = {_name(field): field for field in attrs.fields(kind)}  # type: ignore[arg-type] # T is an attrs class
    required = tuple(name for name, field in fields.items() if field.default is attrs.NOTHING)
    optional = tuple(name for name in fields if name not in required)
    given: dict[str, Any] = {}
    for name, each in fields_of(value, required=required, optional=optional).items():
        with inside(name):
            given[fields[name].name] = _decode(fields[name].type, each)
    return kind(**given)


def _name(field: "attrs.Attribute[Any]") -> str:
    name: str = field.metadata.get(_NAME, field.name)
    return name


def _decode(kind: Any, value: Any) -> Any:  # noqa: PLR0911 - one for each kind of type
    origin, arguments = get_origin(kind), get_args(kind)
    if attrs.has(kind):
        return decode(kind, value)
    if origin in {UnionType, Union}:  # `Literal[…] | None` is the latter
        return _decode_union(arguments, value)
    if origin is Literal:
        if not isinstance(value, str) or value not in arguments:
            raise Malformed(quote(value), "one of " + ", ".join(arguments))
        return value
    if origin is tuple:
        return list_of(partial(_decode, arguments[0]), value)
    if origin is frozenset:
        return frozenset(list_of(partial(_decode, arguments[0]), value))
    if origin is Mapping:
        return mapping(value)
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise Malformed(quote(value), SCALARS[kind])
    return value


def _decode_union(kinds: tuple[Any, ...], value: Any) -> Any:
    """Decode an optional value, or one of several scalars."""
    (first, *others) = [kind for kind in kinds if kind is not NoneType]
    if value is None and NoneType in kinds:
        return None
    return _decode(next((kind for kind in others if type(value) is kind), first), value)
