"""
What runs that were killed have left behind: found, and removed, by the next.

Whatever is started carries the identity of whoever is to end it: a process in its environment, a temporary folder in
a file, a container in a label. If there is nobody of that identity any more, it is a leftover. What another machine has
started is none of our business, as we cannot see whether it still runs.
"""

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import psutil

from conformance.adapters.supervisor import MARK, OWNER, identity

PREFIXES = ("conformance-", "flink-")
"""What the names of our temporary folders begin with."""


def owner() -> str:
    """Who ends what we start: the supervisor that we are under, or else ourselves."""
    return os.environ.get(OWNER) or identity()


def is_orphan(owner: str) -> bool:
    """Whether what has this owner has been left behind."""
    machine, number, _ = (*owner.split("/"), "", "")[:3]
    if machine != identity().split("/", maxsplit=1)[0] or not number.isdecimal():
        return False
    return identity(int(number)) != owner


def mark(folder: Path) -> None:
    """A temporary folder is somebody's."""
    (folder / MARK).write_text(owner(), encoding="utf-8")


def remove() -> list[str]:
    """End the processes and remove the folders that were left behind; what these were."""
    return [*_processes(), *_folders()]


def _processes() -> list[str]:
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if is_orphan(process.environ().get(OWNER, "")):
                process.kill()
                found.append(process)
    gone, _ = psutil.wait_procs(found, timeout=5)
    return [f"process {process.pid}" for process in gone]


def _folders() -> list[str]:
    found = []
    for folder in Path(tempfile.gettempdir()).iterdir():
        if folder.name.startswith(PREFIXES):
            with suppress(OSError, UnicodeDecodeError):
                if is_orphan((folder / MARK).read_text(encoding="utf-8")):
                    shutil.rmtree(folder, ignore_errors=True)
                    found.append(f"folder {folder}")
    return found
