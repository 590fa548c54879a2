"""
How far a driver has got with a batch, read off what it has written; and between which two writes it is to be killed.

For each batch a driver writes, in this order: the files it will read (source log), that it is going to (offset log), a
version of the state of every partition of every operator, that its output is there (sink log), and that the batch is
done (commit log). Each of these appears at once, by a rename, and each gap is at least a few tens of milliseconds
long, so somebody who looks every millisecond can kill it in any of them. Whether that was so is read off again when it
is dead: then nothing moves any more.
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

Reached: TypeAlias = tuple[int, int]
"""The last of these writes, and for `STATE` of how many partitions."""

WRITTEN = "written"
"""A query's folder for the log of a sink that has none of its own."""

CLOCK = 0.02
"""Seconds by which a file may seem older than it is."""


def reached(folder: Path, epoch: int, batch: int, since: float) -> Reached:
    """
    How far the driver that began at `since` has got with an epoch, which is going to be in that batch.

    What it would not write again if it is there already (the source log, the offset log) counts whoever wrote it.
    """
    checkpoint = folder / "checkpoint"
    if (checkpoint / "commits" / str(batch)).exists():
        return COMMIT, 0
    if any(_is_new(log / str(batch), since) for log in (folder / "out" / "_spark_metadata", folder / WRITTEN)):
        return SINK, 0
    if states := _states(checkpoint / "state", batch + 1, since):
        return STATE, states
    if (checkpoint / "offsets" / str(batch)).exists():
        return OFFSETS, 0
    return (SOURCE, 0) if (checkpoint / "sources" / "0" / str(epoch - 1)).exists() else (0, 0)


def _states(folder: Path, version: int, since: float) -> int:
    """How many partitions have this version of their state."""
    names = [f"{version}.{kind}" for kind in ("delta", "zip", "changelog")]
    return sum(
        any(_is_new(partition / name, since) for name in names)
        for partition in folder.glob("*/*")
        if partition.name.isdigit()
    )


def _is_new(file: Path, since: float) -> bool:
    try:
        return os.stat(file).st_mtime >= since - CLOCK  # noqa: PTH116 - a thousand times a second
    except OSError:
        return False


@frozen
class Window:
    """From one of the writes on, until another."""

    opens: Reached
    closes: Reached
    words: str

    def is_open(self, now: Reached) -> bool:
        """Whether this is the time."""
        return self.opens <= now < self.closes


_PROCESSING = Window((SOURCE, 0), (OFFSETS, 0), "the source log was written, and the offset log was not")
_COMMIT = Window((SINK, 0), (COMMIT, 0), "the sink was done with it, and the commit log was not written")


def windows(job: RunRequest, stores: int) -> dict[int, Window | None]:
    """
    The kills of a case that come from outside, by their place among its failures, and when: None is when it recovers.

    Which kills these are does not depend on the number of state stores.
    """
    found: dict[int, Window | None] = {}
    epochs: set[int] = set()
    for number, failure in enumerate(job.case.failures):
        if isinstance(failure, Kill):
            chance = Random(f"{job.seed}/{digest(job.case)}/{number}")
            when = window(failure, chance, stores=stores, first=failure.epoch not in epochs)
            if when is not None or failure.phase == "recovery":
                found[number] = when
        epochs.add(failure.epoch)
    return found


def window(kill: Kill, chance: Random, *, stores: int, first: bool) -> Window | None:
    """
    When to kill, if that is to be done from outside: chosen among the gaps that belong to the phase.

    None, if a task that is processing does it, or if it is done as soon as a driver has begun to recover. `first` says
    that nothing has failed in that epoch before, so that its logs are still to be written.
    """
    match kill.phase or "processing":
        case "processing":
            return _PROCESSING if kill.target == "coordinator" and first and chance.random() < 1 / 2 else None
        case "snapshot":
            done = chance.randint(1, stores)
            return Window((STATE, done), (SINK, 0), f"the state of {done} of {stores} partitions was committed")
        case "commit":
            return _COMMIT
    return None
