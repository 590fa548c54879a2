"""Engines by name, `name[:setting,setting…]`, from the entry points of the group `conformance.engines`."""

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from conformance.engine import Engine
from conformance.errors import ConformanceError, UnknownEngine, did_you_mean

GROUP = "conformance.engines"


def names() -> list[str]:
    """Return the names of all installed engines, the reference model first."""
    return sorted({point.name for point in entry_points(group=GROUP)}, key=lambda name: (name != "reference", name))


def standalone_names() -> list[str]:
    """Return the names of the engines that need no setting and are not broken on purpose."""
    return [name for name in names() if name not in {"mutant", "stdio"}]


def engine(engine_name: str) -> Engine:
    """
    Make the engine of a name with its settings. It is not started yet.

    `python:package.module:Class` imports a class, also from the current folder. The text after `stdio:` is a command
    line.
    """
    name, colon, rest = engine_name.partition(":")
    if colon and not rest.strip():
        raise UnknownEngine(f"{engine_name!r} ends after its colon; omit the colon, or name a setting after it")
    found: list[EntryPoint] = [point for point in entry_points(group=GROUP) if point.name == name]
    if name == "python":
        make, settings = _imported(rest), []
    elif found and name == "stdio":
        make, settings = found[0].load(), [rest]
    elif found:
        make, settings = found[0].load(), [setting for setting in rest.split(",") if setting]
    else:
        raise UnknownEngine(
            f"there is no engine {name!r}; there are {', '.join(names())}, and python:package.module:Class"
            + did_you_mean(name, [*names(), "python"])
        )
    try:
        made: Engine = make(settings)
    except ConformanceError:
        raise
    except Exception as error:
        raise UnknownEngine(
            f"{engine_name} cannot be made with a list of settings: {type(error).__name__}: {error}"
        ) from error
    if not all(callable(getattr(made, method, None)) for method in ("start", "run", "stop")):
        raise UnknownEngine(f"{engine_name} is no engine: it needs the methods start, run and stop")
    return made


def _imported(path: str) -> Callable[[list[str]], Engine]:
    module, _, name = path.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Callable[[list[str]], Engine] = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UnknownEngine(f"python:{path} cannot be imported from this folder or PYTHONPATH: {error}") from None
    return found
