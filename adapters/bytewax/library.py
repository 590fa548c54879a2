"""What the rest of us has to know of Bytewax; it can be imported where Bytewax is not installed."""

import json
from collections.abc import Iterable
from pathlib import Path

from attrs import frozen

from conformance.adapters.bytewax import store
from conformance.adapters.embedded.attempt import Attempt, Row
from conformance.case import Case

SINKS = ("file", "append")
"""Bytewax's own file sink, which cuts its file where it resumes; one that keeps no position, and appends."""

STORE, OUTPUT = "recovery", "out"


@frozen
class Bytewax:
    """The library, with a sink and so many workers in its process."""

    sink: str = SINKS[0]
    workers: int = 1

    def prepare(self, folder: Path) -> None:
        from conformance.adapters.bytewax.dataflow import new_store  # noqa: PLC0415 - where Bytewax is installed

        (folder / OUTPUT).mkdir()
        (folder / STORE).mkdir()
        new_store(folder / STORE)

    def work(self, attempt: Attempt) -> None:
        from conformance.adapters.bytewax.dataflow import run  # noqa: PLC0415

        run(attempt, self.sink, self.workers, store=attempt.folder / STORE, output=attempt.folder / OUTPUT)

    def committed(self, folder: Path, case: Case) -> int:
        return store.committed(folder / STORE, case.graph.sources)

    def rows(self, folder: Path, stream: str) -> Iterable[Row]:
        path = folder / OUTPUT / stream
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        for line in lines:
            epoch, event = json.loads(line)
            yield epoch, event
