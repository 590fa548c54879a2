"""The states of programs as text, for engines that store text."""

import json
from collections.abc import Callable
from typing import Any

from rpds import HashTrieMap, HashTrieSet


def dump(value: Any) -> str:
    """Write a program's state as JSON."""
    if isinstance(value, HashTrieSet):
        return json.dumps({"set": list(value)})
    if isinstance(value, HashTrieMap):
        return json.dumps({"map": list(value.items())})
    if isinstance(value, tuple):
        return json.dumps({"tuple": list(value)})
    return json.dumps({"plain": value})


def load(text: str) -> Any:
    """Read a program's state from JSON."""
    ((kind, value),) = json.loads(text).items()
    if kind == "map":
        return HashTrieMap([(key, each) for key, each in value])
    kinds: dict[str, Callable[[Any], Any]] = {"set": HashTrieSet, "tuple": tuple}
    return kinds[kind](value) if kind in kinds else value
