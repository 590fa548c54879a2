"""Engines by name: `name[:setting,setting…]`, looked up among the entry points of the group `conformance.engines`."""

from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from conformance.engine import Engine
from conformance.errors import UnknownEngine

GROUP = "conformance.engines"


def names() -> list[str]:
    """Every engine that is installed, ours first as they are listed, then others'."""
    return sorted({point.name for point in entry_points(group=GROUP)}, key=lambda name: (name != "reference", name))


def engine(word: str) -> Engine:
    """
    The engine that a word of the command line names, with its settings. It is not started yet.

    `python:package.module:Class` imports a class of one's own.
    """
    name, _, rest = word.partition(":")
    if name == "python":
        return _class(rest)([])  # type: ignore[no-any-return]
    found: list[EntryPoint] = [point for point in entry_points(group=GROUP) if point.name == name]
    if not found:
        raise UnknownEngine(
            f"there is no engine {name!r}; there are {', '.join(names())}, and python:package.module:Class"
        )
    settings = [setting for setting in rest.split(",") if setting]
    made: Engine = found[0].load()(settings)
    return made


def _class(path: str):  # type: ignore[no-untyped-def]  # noqa: ANN202
    module, _, name = path.partition(":")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UnknownEngine(f"python:{path} cannot be imported: {error}; give python:package.module:Class") from None
