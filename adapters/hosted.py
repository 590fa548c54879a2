"""
Any engine by its name, in a process of its own.

An engine that hangs, exits or leaks is one mechanism's business (`stdio`), whatever it is written in.
"""

import json
import sys
from pathlib import Path

from adapters.stdio import Stdio
from conformance.registry import engine

SCRIPT = "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); from adapters.serve import main; main()"
"""Finds modules where we find them, whatever folder it is started in."""


class Hosted(Stdio):
    """Any engine by its name, in a process of its own."""

    def __init__(self, word: str, *, log: Path | None = None) -> None:
        name, _, command = word.partition(":")
        if name == "stdio":
            super().__init__([command], log=log)
        else:
            if name != "python":
                engine(word)  # An unknown name or setting is refused here and now.
            serving = [sys.executable, "-P", "-c", SCRIPT, json.dumps(sys.path), word]
            super().__init__([], log=log, command=serving, ahead=True)
