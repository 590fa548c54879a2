"""
How far Pathway has got: the point that it would go on from, read off its own metadata.

Every run of a program has a version, one more than the newest that is there, and keeps for it how far the time of all
its sinks has advanced; what came before that time is final. Which epoch came at which time our own program notes.
"""

import json
from pathlib import Path

BEGAN = "began-{}"
"""By an attempt, when its input begins: from which epoch on, and which version was there before."""

TIMES = "times-{}"
"""By an attempt: a line for each epoch, with its time."""


def versions(store: Path) -> dict[int, float]:
    """For each version how far its time has advanced; without end, if it ended in good order."""
    found: dict[int, float] = {}
    for path in store.glob("*-0-*"):
        try:
            advanced = json.loads(path.read_text(encoding="utf-8"))["last_advanced_timestamp"]
        except (OSError, ValueError):
            continue  # It is being replaced, and the one before it is there.
        version = int(path.name.split("-")[0])
        time = float("inf") if advanced == "Done" else advanced["At"]
        found[version] = max(time, found.get(version, 0))
    return found


def committed(store: Path, notes: Path) -> int:
    """How many epochs of the case are final."""
    attempts = sorted(int(path.name.split("-")[1]) for path in notes.glob(BEGAN.format("*")))
    if not attempts:
        return 0
    began = json.loads((notes / BEGAN.format(attempts[-1])).read_text(encoding="utf-8"))
    advanced = versions(store).get(began["version"] + 1, 0)
    times = notes / TIMES.format(attempts[-1])
    lines = times.read_text(encoding="utf-8").splitlines() if times.exists() else []
    final: list[int] = [epoch for epoch, time in map(json.loads, lines) if time < advanced]
    return max([int(began["after"]), *final])
