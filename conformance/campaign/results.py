"""
The results folder of a campaign.

    journal.jsonl      the events
    cases/             every case
    observations/      what the engine let be observed of each case
    counterexamples/   the smallest cases that break a guarantee, and the observations of their last failing run
    logs/              engine.log: the engine's stderr; adapter.log: the actions of its adapter, with times
    kept/              the files that the engine left of failing cases, and of counterexamples
    slices/            cases and observations as Parquet, if they were run on a cluster
    certificate.json, junit.xml, badge.json, badge.svg, index.html   made from the above

A case and its observations are on the disk before the journal has the event about them; the certificate comes last,
because it has the digests of all other files.

Campaigns of several engines have a folder each; engines.json beside these folders lists the engines.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

from conformance.campaign.events import Began
from conformance.campaign.journal import Journal, read_events
from conformance.case import Case
from conformance.codec import decode_observations, encode_observations, read, read_case, write_case, write_text
from conformance.codec.strict import fields_of, identity, list_of
from conformance.errors import Malformed, Unwritable, quote
from conformance.observation import Observations

JOURNAL = "journal.jsonl"
CERTIFICATE = "certificate.json"
CASES, OBSERVATIONS, COUNTEREXAMPLES, LOGS = "cases", "observations", "counterexamples", "logs"
SLICES = "slices"
KEPT = "kept"
SEVERAL = "engines.json"
REPORTS = ("index.html", "history.html")
"""Reports for people. They are no part of the certificate: a later version may write better ones."""

LATEST = "latest"

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,99}", re.ASCII)


SHRUNK = re.compile(rf"{COUNTEREXAMPLES}/[0-9]{{1,9}}\.json", re.ASCII)


def slug(engine_name: str) -> str:
    """Make the name of a folder from the name of an engine."""
    return re.sub(r"[^a-z0-9]+", "-", engine_name.lower()).strip("-")[:60] or "engine"


def command_path(path: Path) -> str:
    """Return a path as a command copied to the working directory needs it: relative below it, absolute elsewhere."""
    absolute, here = path.absolute(), Path.cwd()
    return str(absolute.relative_to(here) if absolute.is_relative_to(here) else absolute)


def existing_ancestor(path: Path) -> Path:
    """Return the nearest folder above a path, or the path itself, that exists."""
    absolute = path.absolute()
    return next(each for each in (absolute, *absolute.parents) if each.exists())


def remove_unused(folder: Path, until: Path) -> None:
    """
    Remove the empty folders and logs of campaigns that never began, and the empty folders above, `until` excluded.

    It removes empty folders and empty logs only; everything else stays.
    """
    if any((*folder.glob(JOURNAL), *folder.glob(f"*/{JOURNAL}"))):
        return
    for log in folder.rglob(f"{LOGS}/*.log"):
        if not log.is_symlink() and log.stat().st_size == 0:
            log.unlink()
    absolute = folder.absolute()
    below = sorted((each for each in absolute.rglob("*") if each.is_dir() and not each.is_symlink()), reverse=True)
    for each in (*below, *takewhile(lambda each: each != until, (absolute, *absolute.parents))):
        with suppress(OSError):
            each.rmdir()


class Results:
    """The results folder of one campaign."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def begun(self) -> bool:
        """Whether the folder has a campaign that began."""
        journal = self.folder / JOURNAL
        return journal.is_file() and bool(read_events(journal))

    def discard_unstarted(self) -> None:
        """Remove the journal of a campaign that ran no case, because those of the other engines never began."""
        journal = self.folder / JOURNAL
        if journal.is_file() and len(read_events(journal)) <= 1:
            journal.unlink()

    def begin(self, began: Began) -> None:
        """Write the first event. From here on the campaign can be resumed."""
        with Journal(self.folder / JOURNAL) as journal:
            journal.write(began)

    def make_folders(self) -> None:
        """Create the folders inside that are missing."""
        for name in (CASES, OBSERVATIONS, COUNTEREXAMPLES, LOGS):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def make(self) -> None:
        """Create the folder; refuse one that has files other than those of a campaign that never began."""
        try:
            self.make_folders()
            taken = any(file != JOURNAL for file in self.files()) or self.begun
        except OSError as error:
            raise Unwritable(str(self.folder), error.strerror or str(error), "Give another folder.") from None
        if taken:
            hint = "Give a new folder, or --resume to continue the campaign in it."
            raise Unwritable(str(self.folder), "the folder is not empty", hint)

    def journal(self) -> Journal:
        """Open the journal for writing."""
        self.tidy()
        return Journal(self.folder / JOURNAL)

    def tidy(self) -> None:
        """Remove files and folders that were incomplete when their writer was killed."""
        for unfinished in list(self.folder.rglob(".*.part")):
            if unfinished.is_dir() and not unfinished.is_symlink():
                shutil.rmtree(unfinished)
            else:
                unfinished.unlink(missing_ok=True)

    def log(self) -> Path:
        """Return the file for the engine's stderr."""
        return self.folder / LOGS / "engine.log"

    def action_log(self) -> Path:
        """Return the file for the actions of the engine's adapter."""
        return self.folder / LOGS / "adapter.log"

    def kept(self, name: str) -> Path:
        """Return the folder for the files that the engine left of a case or of a counterexample."""
        return self.folder / KEPT / _checked(name)

    def slices(self) -> Path:
        """Return the folder for the rows that a cluster returned."""
        return self.folder / SLICES

    def _path(self, folder: str, name: str) -> Path:
        """Return the file of a case."""
        return self.folder / folder / f"{_checked(name)}.json"

    def save(self, name: str, case: Case, seen: Observations | None) -> None:
        """Write a case and its observations."""
        write_case(self._path(CASES, name), case)
        if seen is not None:
            _write_observations(self._path(OBSERVATIONS, name), seen)

    def case(self, name: str) -> Case:
        """Read a case."""
        return read_case(self._path(CASES, name))

    def observations(self, name: str) -> Observations | None:
        """Read the observations of a case, if there are any."""
        path = self._path(OBSERVATIONS, name)
        return read(path, decode_observations) if path.exists() else None

    def save_counterexample(self, number: int, case: Case, seen: Observations | None) -> None:
        """Write a counterexample and the observations of its last failing run."""
        file = counterexample_file(number)
        write_case(self.folder / file, case)
        path = self.folder / observations_of(file)
        if seen is not None:
            _write_observations(path, seen)
        else:
            path.unlink(missing_ok=True)

    def counterexample(self, file: str) -> tuple[Case, Observations | None]:
        """Read a counterexample and its observations. `file` is relative to the folder."""
        if not SHRUNK.fullmatch(file):
            raise Malformed(quote(file), "the file of a counterexample", file=JOURNAL)
        path = self.folder / observations_of(file)
        return read_case(self.folder / file), read(path, decode_observations) if path.exists() else None

    def files(self) -> Iterator[str]:
        """
        Yield the files that a certificate vouches for, sorted.

        These are all but the certificate itself, the logs, the files that the engine left, the slices and the reports,
        which repeat what other files say and would change the certificate.
        """
        others = (f"{LOGS}/", f"{KEPT}/", f"{SLICES}/")
        for path in sorted(self.folder.rglob("*")):
            file = path.relative_to(self.folder).as_posix()
            vouched = not file.startswith(others) and file not in {CERTIFICATE, *REPORTS}
            if vouched and (path.is_symlink() or not path.is_dir()):
                yield file

    def digests(self) -> dict[str, str]:
        """Return the SHA-256 of each of these files. A symbolic link has none."""
        return {file: _digest(self.folder / file) for file in self.files()}


def _checked(name: str) -> str:
    """Refuse a name that is no case's. Names come from journals, which are untrusted."""
    if not NAME.fullmatch(name):
        raise Malformed(quote(name), "the name of a case: small letters, digits and dashes", file=JOURNAL)
    return name


def counterexample_file(number: int) -> str:
    """Return the file of a counterexample, relative to the folder."""
    return f"{COUNTEREXAMPLES}/{number}.json"


def kept_name(file: str) -> str:
    """Return the name under which the engine's files of a counterexample are kept."""
    return f"counterexample-{Path(file).stem}"


def observations_of(file: str) -> str:
    """Return the file of the observations that belong to a counterexample."""
    return f"{file.removesuffix('.json')}-observations.json"


def _write_observations(path: Path, seen: Observations) -> None:
    text = json.dumps(encode_observations(seen), separators=(",", ":"), ensure_ascii=False)
    write_text(path, text + "\n")


def _digest(path: Path) -> str:
    if path.is_symlink() or not path.is_file():
        return "not a file"
    return hashlib.sha256(path.read_bytes()).hexdigest()


def engines_in(folder: Path) -> tuple[str, ...]:
    """Read the names of the engines whose campaigns share a folder."""
    return read(folder / SEVERAL, _decode_engines)


def _decode_engines(value: object) -> tuple[str, ...]:
    names = list_of(identity, fields_of(value, required=("engines",))["engines"])
    for index, name in enumerate(names):
        if not isinstance(name, str):
            raise Malformed(quote(name), "the name of an engine", path=("engines", index))
    return names


def point_latest(folder: Path, *, within: Path) -> None:
    """Point the link `latest` to a folder, if that is directly in `within`."""
    if folder.parent != within:
        return
    link, unfinished = folder.with_name(LATEST), folder.with_name(f".{LATEST}.part")
    if link.exists() and not link.is_symlink():
        return
    unfinished.unlink(missing_ok=True)
    unfinished.symlink_to(folder.name)
    unfinished.replace(link)
