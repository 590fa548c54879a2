"""
The point from which Pathway would resume, read from its own metadata.

Every run of a program has a version, one more than the newest stored version. Pathway stores for it how far the time
of all sinks has advanced; the output before that time is final. The dataflow itself records the time of each epoch.
"""

import json
from pathlib import Path

STARTED = "started-{}"
"""File of an attempt, written when its input starts: the epochs that were final, and the newest version before."""

TIMES = "times-{}"
"""File of an attempt: a line for each epoch, with its time."""


def versions(store: Path) -> dict[int, float]:
    """Return how far the time of each version has advanced: infinitely, if the run ended normally."""
    found: dict[int, float] = {}
    for path in store.glob("*-0-*"):
        try:
            advanced = json.loads(path.read_text(encoding="utf-8"))["last_advanced_timestamp"]
        except (OSError, ValueError):
            continue  # Pathway is replacing this file; the file before it exists.
        version = int(path.name.split("-")[0])
        time = float("inf") if advanced == "Done" else advanced["At"]
        found[version] = max(time, found.get(version, 0))
    return found


def committed_epochs(store: Path, progress: Path) -> int:
    """Count the epochs of the case that are final."""
    attempts = sorted(int(path.name.split("-")[1]) for path in progress.glob(STARTED.format("*")))
    if not attempts:
        return 0
    started = json.loads((progress / STARTED.format(attempts[-1])).read_text(encoding="utf-8"))
    advanced = versions(store).get(started["version"] + 1, 0)
    times = progress / TIMES.format(attempts[-1])
    lines = times.read_text(encoding="utf-8").splitlines() if times.exists() else []
    final: list[int] = [epoch for epoch, time in map(json.loads, lines) if time < advanced]
    return max([int(started["after"]), *final])
