"""
How far Bytewax has got: the point that it would resume from, read off its recovery store.

An execution resumes at the smallest frontier that the workers of the one before had reached; a worker that had reached
none counts with where it began. What a source has saved before that frontier is where it goes on.
"""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

PARTITION = "part-0.sqlite3"

POSITION = "epoch {}"
"""What a source saves: a text that can be recognised in whatever Bytewax makes of it."""

SOURCE = "source-{}"
"""How the step of a source is called."""

_SAVED = re.compile(POSITION.format("([0-9]+)").encode())

_EXECUTION = "select ex_num, worker_count, resume_epoch from exs order by ex_num desc limit 1"
_FRONTIERS = "select worker_frontier from fronts where ex_num = ?"
_POSITION = "select ser_change from snaps where step_id like ? and snap_epoch < ? order by snap_epoch desc limit 1"


def committed(folder: Path, sources: tuple[str, ...]) -> int:
    """How many epochs of the case every source has behind it, at the point that would be resumed from."""
    place = f"file:{folder / PARTITION}?mode=ro"
    with closing(sqlite3.connect(place, uri=True, timeout=10, isolation_level=None)) as store:
        # All of it at one moment: Bytewax takes away what it has saved for older epochs when it gets on.
        store.execute("begin")
        execution = store.execute(_EXECUTION).fetchone()
        if execution is None:
            return 0
        number, workers, resumed = execution
        reached = [max(frontier, resumed) for (frontier,) in store.execute(_FRONTIERS, (number,))]
        frontier = min(reached + [resumed] * (workers - len(reached)))
        saved = [store.execute(_POSITION, (f"%.{SOURCE.format(name)}", frontier)).fetchone() for name in sources]
    return min(_position(*row) if row else 0 for row in saved)


def _position(change: bytes | None) -> int:
    found = _SAVED.search(change or b"")
    return int(found[1]) if found else 0
