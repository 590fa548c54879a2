"""The interface to Bytewax. This module can be imported where Bytewax is not installed."""

import json
from collections.abc import Iterable
from pathlib import Path

from attrs import frozen

from conformance.adapters.bytewax import store
from conformance.adapters.embedded.attempt import Attempt, Row
from conformance.case import Case

SINKS = ("file", "append")
"""Bytewax's own file sink, which truncates its file where it resumes; and a sink that only appends."""

STORE, OUTPUT = "recovery", "out"


@frozen
class BytewaxLibrary:
    """Bytewax with one of the sinks, and a number of workers in its process."""

    sink: str = SINKS[0]
    workers: int = 1

    def prepare(self, folder: Path) -> None:
        from conformance.adapters.bytewax.dataflow import create_store  # noqa: PLC0415 - needs Bytewax

        (folder / OUTPUT).mkdir()
        (folder / STORE).mkdir()
        create_store(folder / STORE)

    def run_attempt(self, attempt: Attempt) -> None:
        from conformance.adapters.bytewax.dataflow import run  # noqa: PLC0415 - needs Bytewax

        run(attempt, self.sink, self.workers, store=attempt.folder / STORE, output=attempt.folder / OUTPUT)

    def committed_epochs(self, folder: Path, case: Case) -> int:
        return store.committed_epochs(folder / STORE, case.graph.sources)

    def rows(self, folder: Path, stream: str) -> Iterable[Row]:
        path = folder / OUTPUT / stream
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        for line in lines:
            epoch, event = json.loads(line)
            yield epoch, event
