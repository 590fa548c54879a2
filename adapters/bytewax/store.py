"""
The point from which Bytewax would resume, read from its recovery store.

An execution resumes at the smallest frontier that the workers of the execution before had reached; a worker without a
frontier counts with the epoch at which it began. A source continues from the position that it saved before that
frontier.
"""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

PARTITION = "part-0.sqlite3"

POSITION = "epoch {}"
"""The position that a source saves: a text that can be found in the bytes that Bytewax serializes."""

SOURCE = "source-{}"
"""The id of a source's step."""

_SAVED = re.compile(POSITION.format("([0-9]+)").encode())

_EXECUTION = "select ex_num, worker_count, resume_epoch from exs order by ex_num desc limit 1"
_FRONTIERS = "select worker_frontier from fronts where ex_num = ?"
_POSITION = "select ser_change from snaps where step_id like ? and snap_epoch < ? order by snap_epoch desc limit 1"


def committed_epochs(folder: Path, sources: tuple[str, ...]) -> int:
    """Count the epochs of the case that every source has emitted before the point of resumption."""
    uri = f"file:{folder / PARTITION}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, timeout=10, isolation_level=None)) as store:
        # One transaction, because Bytewax deletes the snapshots of older epochs as it proceeds.
        store.execute("begin")
        execution = store.execute(_EXECUTION).fetchone()
        if execution is None:
            return 0
        number, workers, resumed = execution
        frontiers = [max(frontier, resumed) for (frontier,) in store.execute(_FRONTIERS, (number,))]
        frontier = min(frontiers + [resumed] * (workers - len(frontiers)))
        saved = [store.execute(_POSITION, (f"%.{SOURCE.format(name)}", frontier)).fetchone() for name in sources]
    return min(_position(*row) if row else 0 for row in saved)


def _position(change: bytes | None) -> int:
    found = _SAVED.search(change or b"")
    return int(found[1]) if found else 0
