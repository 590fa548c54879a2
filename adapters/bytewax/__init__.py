"""Bytewax as an engine under test: a dataflow in a process, with its state in Bytewax's recovery store."""

from collections.abc import Sequence

from conformance.adapters.bytewax.library import SINKS, BytewaxLibrary
from conformance.adapters.embedded import EmbeddedEngine
from conformance.errors import UnknownEngine, did_you_mean

TWO_WORKERS = "two-workers"


class BytewaxEngine(EmbeddedEngine):
    """`bytewax`: each task is a stateful step, each stream a file; settings choose the sink and the workers."""

    def __init__(self, settings: Sequence[str]) -> None:
        for setting in settings:
            if setting not in {*SINKS, TWO_WORKERS}:
                known = [*SINKS, TWO_WORKERS]
                hint = did_you_mean(setting, known)
                raise UnknownEngine(f"bytewax has no setting {setting!r}; it has {', '.join(known)}{hint}")
        sinks = [setting for setting in settings if setting in SINKS]
        if len(sinks) > 1:
            raise UnknownEngine(f"bytewax has one sink: {' or '.join(sinks)}")
        sink, workers = (*sinks, SINKS[0])[0], 2 if TWO_WORKERS in settings else 1
        super().__init__(
            "bytewax",
            BytewaxLibrary(sink, workers),
            preload="conformance.adapters.bytewax.dataflow",
            pythons="its wheels are for Python 3.12 and older",
            failures=[
                "crash",
                "restart",
                *(f"kill:worker:{phase}" for phase in ("processing", "snapshot", "recovery")),
            ],
            settings={"sink": sink, "workers": workers},
        )
