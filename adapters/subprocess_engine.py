"""
Any engine by its name, in a process of its own.

`stdio` handles engines that hang, exit or leak, in any language.
"""

import json
import logging
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance.adapters.stdio import Patience, Stdio
from conformance.adapters.transcript import Listener
from conformance.codec.protocol import START
from conformance.engine import Description
from conformance.registry import engine

REMARKS = logging.getLogger("conformance.remarks")
"""Gets the remarks of engines for the user; the command line prints them."""


def own_process(module: str, *arguments: str) -> list[str]:
    """Give a command that runs `main` of one of our modules, with our module path, in any working directory."""
    script = f"import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); from {module} import main; main()"
    return [sys.executable, "-P", "-c", script, json.dumps(sys.path), *arguments]


class SubprocessEngine(Stdio):
    """Any engine by its name, in a process of its own."""

    def __init__(
        self,
        engine_name: str,
        *,
        log: Path | None = None,
        listener: Listener | None = None,
        patience: Patience | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._engine_name = engine_name
        name, _, command = engine_name.partition(":")
        if name == "stdio":
            super().__init__([command], log=log, listener=listener, patience=patience, environment=environment)
        else:
            if name != "python":
                engine(engine_name)  # This refuses an unknown name or setting at once.
            served = own_process("conformance.adapters.serve", engine_name)
            super().__init__(
                [],
                log=log,
                command=served,
                ahead=True,
                listener=listener,
                patience=patience,
                environment=environment,
            )

    def start(self, greeting: Mapping[str, Any] = START) -> Description:
        description = super().start(greeting)
        for remark in self.remarks:
            REMARKS.warning("%s: %s", self._engine_name, remark)
        return description
