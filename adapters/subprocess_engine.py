"""
Any engine by its name, in a process of its own.

An engine that hangs, exits or leaks is one mechanism's business (`stdio`), whatever it is written in.
"""

import json
import sys
from pathlib import Path

from conformance.adapters.stdio import Patience, Stdio
from conformance.adapters.transcript import Hears
from conformance.registry import engine


def own_process(module: str, *arguments: str) -> list[str]:
    """The command that runs `main` of a module of ours, which finds modules where we do, wherever it is started."""
    script = f"import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); from {module} import main; main()"
    return [sys.executable, "-P", "-c", script, json.dumps(sys.path), *arguments]


class SubprocessEngine(Stdio):
    """Any engine by its name, in a process of its own."""

    def __init__(
        self, word: str, *, log: Path | None = None, hears: Hears | None = None, patience: Patience | None = None
    ) -> None:
        name, _, command = word.partition(":")
        if name == "stdio":
            super().__init__([command], log=log, hears=hears, patience=patience)
        else:
            if name != "python":
                engine(word)  # An unknown name or setting is refused here and now.
            served = own_process("conformance.adapters.serve", word)
            super().__init__([], log=log, command=served, ahead=True, hears=hears, patience=patience)
