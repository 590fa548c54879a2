"""
Orphan cleanup: the next run finds and removes what a killed run left behind.

Every process, temporary folder and container carries the identity of its owner, the process that has to end it: a
process in its environment, a folder in a file, a container in a label. If the owner has exited, it is an orphan.
Orphans of another machine are ignored, because we cannot see whether their owner still runs.
"""

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import psutil

from conformance.adapters.supervisor import OWNER, OWNER_FILE, identity

PREFIXES = ("conformance-", "flink-")
"""The beginnings of the names of our temporary folders."""


def owner() -> str:
    """Give the owner of what we start: the supervisor above us, or this process."""
    return os.environ.get(OWNER) or identity()


def is_orphan(owner: str) -> bool:
    """Whether this owner is a process of this machine that has exited."""
    machine, number, _ = (*owner.split("/"), "", "")[:3]
    if machine != identity().split("/", maxsplit=1)[0] or not number.isdecimal():
        return False
    return identity(int(number)) != owner


def mark(folder: Path) -> None:
    """Write our owner into a temporary folder."""
    (folder / OWNER_FILE).write_text(owner(), encoding="utf-8")


def remove() -> list[str]:
    """Kill orphaned processes and remove orphaned folders; list them."""
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
                if is_orphan((folder / OWNER_FILE).read_text(encoding="utf-8")):
                    shutil.rmtree(folder, ignore_errors=True)
                    found.append(f"folder {folder}")
    return found
