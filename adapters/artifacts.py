"""
Artifacts: the files that an engine leaves of a run, such as logs, checkpoints and sink files.

An adapter calls `discard` at the end of a run, before it gives the run's observations. If the suite keeps artifacts,
the run's folder is moved into a folder of the suite, which deletes or keeps it when the verdict is known. Moving is a
rename on one file system, so a conforming run costs nothing more. Otherwise the folder is deleted.

An adapter in another language can do the same. The environment variable `CONFORMANCE_ARTIFACTS` names the suite's
folder; the adapter renames a folder of its own to a new name in it that begins with no dot. The folder has a file
`cases`, with the digests of the run's cases, one a line; everything else in it belongs to the run.
"""

import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from time import time_ns

from conformance.adapters.supervisor import ARTIFACTS
from conformance.codec import digest
from conformance.engine import RunRequest

CASES = "cases"
"""The file, in a folder that is handed over, with the digests of the run's cases."""

FILES, LOGS = "files", "logs"


def discard(folder: Path, requests: Sequence[RunRequest], logs: Iterable[Path] = ()) -> None:
    """
    Hand the folder of a run over to the suite, or delete it if the suite keeps no artifacts.

    `logs` are files that the run shares with others, such as the log of a worker process. They are linked, not moved.
    """
    suite = os.environ.get(ARTIFACTS)
    if suite and folder.is_dir():
        with suppress(OSError):
            _hand_over(folder, requests, logs, Path(suite))
    shutil.rmtree(folder, ignore_errors=True)


def _hand_over(folder: Path, requests: Sequence[RunRequest], logs: Iterable[Path], suite: Path) -> None:
    """Move a folder into the suite's. It has its name there, which sorts by time, when it is complete."""
    parcel = Path(tempfile.mkdtemp(prefix=f".{time_ns():020}-", dir=suite))
    try:
        (parcel / CASES).write_text("".join(f"{digest(request.case)}\n" for request in requests), encoding="ascii")
        folder.rename(parcel / FILES)
        (parcel / LOGS).mkdir()
        for log in logs:
            with suppress(OSError):
                os.link(log, parcel / LOGS / log.name, follow_symlinks=False)
        parcel.rename(suite / parcel.name.removeprefix("."))
    except OSError:
        shutil.rmtree(parcel, ignore_errors=True)
        raise
