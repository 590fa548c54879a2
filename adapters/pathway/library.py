"""What the rest of us has to know of Pathway; it can be imported where Pathway is not installed."""

import json
from collections.abc import Iterable
from pathlib import Path

from attrs import frozen

from conformance.adapters.embedded.attempt import Attempt, Row
from conformance.adapters.pathway import store
from conformance.case import Case
from conformance.errors import EngineFailed

STORE, OUTPUT, NOTES = "persistence", "out", "notes"


@frozen
class Pathway:
    """The library, with its persistence of inputs; that of operators wants a licence key."""

    def prepare(self, folder: Path) -> None:
        for name in (STORE, OUTPUT, NOTES):
            (folder / name).mkdir()

    def work(self, attempt: Attempt) -> None:
        from conformance.adapters.pathway.dataflow import run  # noqa: PLC0415 - where Pathway is installed

        folder = attempt.folder
        run(attempt, store=folder / STORE, output=folder / OUTPUT, notes=folder / NOTES)

    def committed(self, folder: Path, case: Case) -> int:  # noqa: ARG002 - the store knows
        return store.committed(folder / STORE, folder / NOTES)

    def rows(self, folder: Path, stream: str) -> Iterable[Row]:
        """Pathway begins its file anew when it is started, so each attempt has one of its own."""
        for path in sorted((folder / OUTPUT).glob(f"{stream}.*"), key=lambda path: int(path.suffix[1:])):
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                if row["diff"] != 1:
                    raise EngineFailed(f"Pathway takes back a row of {stream}, which nothing here asks for")
                yield row["epoch"], json.loads(row["value"])
