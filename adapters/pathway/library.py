"""The interface to Pathway. This module can be imported where Pathway is not installed."""

import json
from collections.abc import Iterable
from pathlib import Path

from attrs import frozen

from conformance.adapters.embedded.attempt import Attempt, Row
from conformance.adapters.pathway import store
from conformance.case import Case
from conformance.errors import EngineFailed

STORE, OUTPUT, PROGRESS = "persistence", "out", "progress"


@frozen
class PathwayLibrary:
    """Pathway with its persistence of inputs; persistence of operators needs a licence key."""

    def prepare(self, folder: Path) -> None:
        for name in (STORE, OUTPUT, PROGRESS):
            (folder / name).mkdir()

    def run_attempt(self, attempt: Attempt) -> None:
        from conformance.adapters.pathway.dataflow import run  # noqa: PLC0415 - needs Pathway

        folder = attempt.folder
        run(attempt, store=folder / STORE, output=folder / OUTPUT, progress=folder / PROGRESS)

    def committed_epochs(self, folder: Path, case: Case) -> int:  # noqa: ARG002 - the store says it
        return store.committed_epochs(folder / STORE, folder / PROGRESS)

    def rows(self, folder: Path, stream: str) -> Iterable[Row]:
        """Read the files of all attempts: Pathway overwrites its file when it starts, so each attempt has its own."""
        for path in sorted((folder / OUTPUT).glob(f"{stream}.*"), key=lambda path: int(path.suffix[1:])):
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                if row["diff"] != 1:
                    raise EngineFailed(f"Pathway takes back a row of {stream}, which nothing here asks for")
                yield row["epoch"], json.loads(row["value"])
