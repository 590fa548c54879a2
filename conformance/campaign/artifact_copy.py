"""
Copies of the files that an engine left, safe to keep: of bounded size, without links, under harmless names.

An engine decides what its files are called and what they are. A symbolic link may lead anywhere and a pipe never ends,
so only regular files are copied. A name may be hostile to a terminal or a shell, so a copy has a sanitized one; the
manifest has the original.
"""

import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import frozen

from conformance.adapters.artifacts import CASES
from conformance.adapters.supervisor import OWNER_FILE

LIMIT = 20 * 2**20
"""Bytes that are kept of one run."""

MOST_LISTED = 5_000
"""Files that a manifest lists."""

MANIFEST = "manifest.json"
OURS = {CASES, OWNER_FILE}
"""Files of the suite, which are not copied."""


HARMLESS = re.compile(r"[A-Za-z0-9_+=-][A-Za-z0-9._+=-]{0,99}", re.ASCII)
LOG_NAME = re.compile(r"(^|/)logs?/|\.(log|out|err)(\.\d+)?$|std(out|err)", re.IGNORECASE)
CHUNK = 1 << 20


@frozen
class _Entry:
    """A file that an engine left."""

    name: str
    """Its path below the folder, as the engine named it."""
    size: int
    time: float
    is_regular: bool

    @property
    def priority(self) -> tuple[bool, float]:
        """Logs come first, and the newest files before older ones."""
        return LOG_NAME.search(self.name) is None, -self.time


def copy_artifacts(source: Path, target: Path, about: dict[str, Any], limit: int = LIMIT) -> None:
    """
    Copy what an engine left into a new folder `target`, up to `limit` bytes, with a manifest of all of it.

    Of the last file that fits only in part, if it is a log, the end is kept. `about` is added to the manifest. The
    target is there as a whole or not at all. If the engine left no file, there is none.
    """
    entries = sorted(_entries(source), key=lambda entry: entry.priority)
    if not entries:
        return
    unfinished = target.with_name(f".{target.name}.part")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    files: list[dict[str, Any]] = []
    room, others = limit, 0
    for entry in entries:
        kept = None
        if entry.is_regular and (entry.size <= room or (room and not entry.priority[0])):
            name = sanitized(entry.name)
            with suppress(OSError):
                copied = _copy(source / entry.name, unfinished / name, room)
                room -= copied
                kept = {"kept": name} if copied >= entry.size else {"kept": name, "bytes": copied}
        if len(files) < MOST_LISTED:
            files.append({"file": entry.name, "size": entry.size, **(kept or {})})
        else:
            others += 1
    manifest = {**about, "limit": limit, "files": files} | ({"not listed": others} if others else {})
    (unfinished / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="ascii")
    shutil.rmtree(target, ignore_errors=True)
    unfinished.rename(target)


def sanitized(name: str) -> str:
    """
    Make a path of an engine's safe.

    A part that is not harmless gets a digest of itself, so that different names stay different.
    """
    return "/".join(map(_sanitized_part, name.split("/")))


def _sanitized_part(part: str) -> str:
    if HARMLESS.fullmatch(part) and part != MANIFEST:
        return part
    tag = hashlib.sha256(os.fsencode(part)).hexdigest()[:8]
    return f"{re.sub(r'[^A-Za-z0-9._+=-]', '_', part).lstrip('.')[:80]}-{tag}"


def _entries(folder: Path) -> Iterator[_Entry]:
    """Find all that is below a folder and is no folder itself. Links are found, and not followed."""
    for parent, folders, names in os.walk(folder):
        links = [name for name in folders if Path(parent, name).is_symlink()]
        for path in (Path(parent, name) for name in (*names, *links)):
            with suppress(OSError):
                found = path.lstat()
                relative = path.relative_to(folder).as_posix()
                if relative not in OURS:
                    yield _Entry(relative, found.st_size, found.st_mtime, stat.S_ISREG(found.st_mode))


def _copy(source: Path, target: Path, most: int) -> int:
    """Copy at most so many bytes from the end of a regular file; say how many."""
    number = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(number, "rb") as read:
        found = os.fstat(read.fileno())
        if not stat.S_ISREG(found.st_mode):
            return 0
        rest = min(found.st_size, most)
        read.seek(found.st_size - rest)
        target.parent.mkdir(parents=True, exist_ok=True)
        copied = 0
        with target.open("xb") as write:
            while copied < rest and (chunk := read.read(min(CHUNK, rest - copied))):
                write.write(chunk)
                copied += len(chunk)
    return copied
