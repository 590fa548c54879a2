"""Pathway as an engine under test: a dataflow in a process, with persistence on the file system."""

from collections.abc import Sequence

from conformance.adapters.embedded import EmbeddedEngine
from conformance.adapters.pathway.library import PathwayLibrary
from conformance.errors import UnknownEngine


class PathwayEngine(EmbeddedEngine):
    """`pathway`: each task is a stateful reducer, each epoch a minibatch, each stream a file that Pathway writes."""

    def __init__(self, settings: Sequence[str]) -> None:
        for setting in settings:
            raise UnknownEngine(f"pathway has no setting {setting!r}; it has none")
        super().__init__(
            "pathway",
            PathwayLibrary(),
            preload="conformance.adapters.pathway.dataflow",
            pythons="its wheels are for Python 3.10 and newer, on Linux and macOS",
            failures=[
                "crash",
                "restart",
                *(f"kill:worker:{phase}" for phase in ("processing", "snapshot", "recovery")),
            ],
            settings={"persistence": "PERSISTING, on the file system", "sink": "jsonlines"},
        )
