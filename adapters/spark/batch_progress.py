"""
The progress of a driver within a micro-batch, read from its files; and the windows in which a kill happens.

For each micro-batch a driver writes, in this order: the input files (source log), the decision to read them (offset
log), a version of the state of every partition of every operator, the output (sink log), and the end of the
micro-batch (commit log). Each file appears at once, by a rename, and each gap is at least a few tens of milliseconds
long. So a supervisor that polls every millisecond can kill the driver in any gap. The files are read again when the
driver is dead and nothing changes any more; they prove in which gap it died.
"""

import os
from pathlib import Path
from random import Random
from typing import TypeAlias

from attrs import frozen

from conformance.case import Kill
from conformance.codec import digest
from conformance.engine import RunRequest

SOURCE, OFFSETS, STATE, SINK, COMMIT = range(1, 6)

BatchProgress: TypeAlias = tuple[int, int]
"""The last of these writes, and for `STATE` the number of partitions."""

SINK_LOG = "sink-log"
"""The folder in a query's folder for the log of a sink that has no log itself."""

CLOCK_ERROR = 0.02
"""Seconds by which a file can seem older than it is."""


def read_progress(folder: Path, epoch: int, batch: int, since: float) -> BatchProgress:
    """
    Read the progress that the driver started at `since` has made with an epoch, which belongs to that micro-batch.

    A driver does not write the source log and the offset log again, so those of an earlier driver count, too.
    """
    checkpoint = folder / "checkpoint"
    if (checkpoint / "commits" / str(batch)).exists():
        return COMMIT, 0
    if any(_is_new(log / str(batch), since) for log in (folder / "out" / "_spark_metadata", folder / SINK_LOG)):
        return SINK, 0
    if partitions := _saved_partitions(checkpoint / "state", batch + 1, since):
        return STATE, partitions
    if (checkpoint / "offsets" / str(batch)).exists():
        return OFFSETS, 0
    return (SOURCE, 0) if (checkpoint / "sources" / "0" / str(epoch - 1)).exists() else (0, 0)


def _saved_partitions(folder: Path, version: int, since: float) -> int:
    """Count the partitions that have this version of their state."""
    names = [f"{version}.{kind}" for kind in ("delta", "zip", "changelog")]
    return sum(
        any(_is_new(partition / name, since) for name in names)
        for partition in folder.glob("*/*")
        if partition.name.isdigit()
    )


def _is_new(file: Path, since: float) -> bool:
    try:
        return os.stat(file).st_mtime >= since - CLOCK_ERROR  # noqa: PTH116 - called every millisecond
    except OSError:
        return False


@frozen
class KillWindow:
    """The time from one write of a micro-batch until another."""

    opens: BatchProgress
    closes: BatchProgress
    description: str

    def is_open(self, progress: BatchProgress) -> bool:
        """Tell whether the progress is within the window."""
        return self.opens <= progress < self.closes


_PROCESSING = KillWindow((SOURCE, 0), (OFFSETS, 0), "the source log was written, and the offset log was not")
_COMMIT = KillWindow((SINK, 0), (COMMIT, 0), "the sink was done with it, and the commit log was not written")


def external_kills(request: RunRequest, stores: int) -> dict[int, KillWindow | None]:
    """
    Return the window of each kill that the supervisor does, by its number; None stands for the start of recovery.

    The numbers do not depend on the number of state stores.
    """
    found: dict[int, KillWindow | None] = {}
    epochs: set[int] = set()
    for number, failure in enumerate(request.case.failures):
        if isinstance(failure, Kill):
            chance = Random(f"{request.seed}/{digest(request.case)}/{number}")
            window = choose_window(failure, chance, stores=stores, first=failure.epoch not in epochs)
            if window is not None or failure.phase == "recovery":
                found[number] = window
        epochs.add(failure.epoch)
    return found


def choose_window(kill: Kill, chance: Random, *, stores: int, first: bool) -> KillWindow | None:
    """
    Choose the window of a kill among the gaps that belong to its phase.

    The result is None if a task does the kill, or if it happens as soon as a driver has begun to recover. `first` says
    that this is the first failure of its epoch, whose logs are still to be written.
    """
    match kill.effective_phase:
        case "processing":
            return _PROCESSING if kill.target == "coordinator" and first and chance.random() < 1 / 2 else None
        case "snapshot":
            saved = chance.randint(1, stores)
            return KillWindow((STATE, saved), (SINK, 0), f"the state of {saved} of {stores} partitions was committed")
        case "commit":
            return _COMMIT
    return None
