"""
Which artifacts of an engine are kept: the files that it left of a run, decided when the run's verdict is known.

An adapter hands its files over before it answers (`adapters.artifacts`). They wait in a temporary folder. When the
verdict is there they are copied into the results folder, or deleted.
"""

import os
import re
import shutil
import tempfile
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from attrs import define, field

from conformance.adapters import orphans
from conformance.adapters.action_log import ACTION_LOG
from conformance.adapters.artifacts import CASES
from conformance.adapters.supervisor import ARTIFACTS
from conformance.campaign.artifact_copy import LIMIT, copy_artifacts
from conformance.campaign.events import Outcome
from conformance.campaign.results import Results
from conformance.errors import EngineFailed
from conformance.observation import Observations
from conformance.settings import Keep

DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
LARGEST_LIST = 1 << 20

HELD = 2
"""
Failing runs of single cases whose artifacts wait to become those of a counterexample.

A counterexample is the smallest case or its origin; both run last, so two are enough.
"""


@define(eq=False)
class Parcel:
    """A folder that an adapter has handed over, of a run of one case or of several."""

    folder: Path
    open: int
    """The number of its cases without a verdict."""
    kept_as: str | None = None

    def close_case(self) -> None:
        """Count one of its cases as settled; delete the folder with the last."""
        self.open -= 1
        if self.open <= 0:
            self.delete()

    def delete(self) -> None:
        """Delete the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


@define
class Artifacts:
    """The artifacts of one campaign. `folder` is the temporary one; there is none where nothing is kept."""

    results: Results
    keep: Keep
    folder: Path | None
    _known: set[str] = field(factory=set)
    _waiting: dict[str, deque[Parcel]] = field(factory=lambda: defaultdict(deque))
    _held: dict[str, Parcel] = field(factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables with which an engine is started."""
        log = {ACTION_LOG: str(self.results.action_log().absolute())}
        return log | ({ARTIFACTS: str(self.folder)} if self.folder is not None else {})

    def settle(self, digest: str, name: str, *, failed: bool) -> None:
        """Keep the artifacts of a case that has a verdict, as those of the case `name`, or delete them."""
        self._forget(name)
        parcel = self._next_parcel(digest)
        if parcel is None:
            return
        if failed or self.keep == "all":
            if parcel.kept_as is None:
                self._copy(parcel.folder, name, {"case": digest})
                parcel.kept_as = name
            else:
                self._copy(parcel.folder, name, {"case": digest, "same as": parcel.kept_as}, limit=0)
        parcel.close_case()

    def settle_error(self, error: EngineFailed, digest: str, name: str) -> None:
        """Keep the temporary folder of an engine that failed on a case."""
        self._forget(name)
        if error.artifacts is not None:
            self._copy(error.artifacts, name, {"case": digest, "error": str(error)})
            shutil.rmtree(error.artifacts, ignore_errors=True)

    def hold(self, digest: str, *, failed: bool) -> None:
        """
        Hold or delete the artifacts of a case that was run again, alone, and has a verdict.

        Those of a failing run may become those of a counterexample, and are held; those of any other are deleted.
        """
        parcel = self._next_parcel(digest)
        if parcel is None:
            return
        if not failed:
            parcel.delete()
            return
        if (former := self._held.pop(digest, None)) is not None:
            former.delete()
        self._held[digest] = parcel
        while len(self._held) > HELD:
            self._held.pop(next(iter(self._held))).delete()

    def keep_held(self, digest: str, name: str) -> None:
        """Keep the artifacts of the last failing run of a case, as `name`, if there are any; delete the others."""
        self._forget(name)
        if (parcel := self._held.get(digest)) is not None:
            self._copy(parcel.folder, name, {"case": digest})
        for each in self._held.values():
            each.delete()
        self._held.clear()

    def _next_parcel(self, digest: str) -> Parcel | None:
        """Return the oldest folder of this case that waits for its verdict."""
        if self.folder is None:
            return None
        for entry in sorted(os.scandir(self.folder), key=lambda entry: entry.name):
            if entry.name not in self._known and entry.is_dir(follow_symlinks=False) and entry.name[0] != ".":
                self._known.add(entry.name)
                digests = _read_digests(Path(entry) / CASES)
                parcel = Parcel(Path(entry), len(digests))
                for each in digests:
                    self._waiting[each].append(parcel)
        waiting = self._waiting.get(digest)
        return waiting.popleft() if waiting else None

    def _copy(self, folder: Path, name: str, about: dict[str, Any], limit: int = LIMIT) -> None:
        """Copy artifacts into the results. If the disk is full, the artifacts are lost and the campaign goes on."""
        with suppress(OSError):
            copy_artifacts(folder, self.results.kept(name), about, limit)

    def _forget(self, name: str) -> None:
        """Delete what a run that was interrupted before its verdict was recorded has kept under this name."""
        shutil.rmtree(self.results.kept(name), ignore_errors=True)


def is_failure(outcome: Outcome, seen: Observations) -> bool:
    """Tell whether a run violates, errs or stalls."""
    return outcome in {"violates", "error"} or seen.end != "completed"


@contextmanager
def open_artifacts(results: Results, keep: Keep) -> Iterator[Artifacts]:
    """Give the artifacts of a campaign a temporary folder, and delete it at the end."""
    if keep == "none":
        yield Artifacts(results, keep, None)
        return
    folder = Path(tempfile.mkdtemp(prefix="conformance-artifacts-"))
    orphans.mark(folder)
    try:
        yield Artifacts(results, keep, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read_digests(path: Path) -> list[str]:
    """Read the digests of a run's cases. The file comes from an engine: it may be a link, or anything."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(number, "rb") as file:
            lines = file.read(LARGEST_LIST).decode("ascii", "replace").splitlines()
    except OSError:
        return []
    return [line for line in lines if DIGEST.fullmatch(line)]
