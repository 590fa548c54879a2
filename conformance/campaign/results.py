"""
The folder that a campaign leaves behind.

    journal.jsonl      what happened, event by event
    cases/             every case
    observations/      what the engine let us see of each
    counterexamples/   the smallest cases that break a guarantee, and what was seen when they did last
    logs/              engine.log: the engine's stderr; adapter.log: the actions of its adapter, with times
    kept/              the files that the engine left of failing cases, and of counterexamples
    slices/            the same as the two above in Parquet, if a cluster did the work
    certificate.json, junit.xml, badge.json, badge.svg, index.html   made from the above

Campaigns of several engines have a folder each, and beside these is engines.json, which says which they are.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from conformance.campaign.events import Began
from conformance.campaign.journal import Journal, read_events
from conformance.case import Case
from conformance.codec import decode_observations, encode_observations, read, read_case, write_case, write_text
from conformance.codec.strict import fields_of, itself, list_of
from conformance.errors import Malformed, Unwritable, quote
from conformance.observation import Observations

JOURNAL = "journal.jsonl"
CERTIFICATE = "certificate.json"
CASES, OBSERVATIONS, COUNTEREXAMPLES, LOGS = "cases", "observations", "counterexamples", "logs"
SLICES = "slices"
KEPT = "kept"
SEVERAL = "engines.json"
REPORTS = ("index.html", "history.html")
"""What is made to be looked at. Anybody can make it again, and another version makes it better."""

LATEST = "latest"

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,99}", re.ASCII)


SHRUNK = re.compile(rf"{COUNTEREXAMPLES}/[0-9]{{1,9}}\.json", re.ASCII)


def slug(word: str) -> str:
    """An engine's name as a folder's."""
    return re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-")[:60] or "engine"


class Results:
    """One campaign's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def begun(self) -> bool:
        """Whether a campaign was begun here."""
        journal = self.folder / JOURNAL
        return journal.is_file() and bool(read_events(journal))

    def forget_beginning(self) -> None:
        """Take back a beginning behind which nothing happened: its companions were never begun."""
        journal = self.folder / JOURNAL
        if journal.is_file() and len(read_events(journal)) <= 1:
            journal.unlink()

    def begin(self, began: Began) -> None:
        """The first line of the journal: from here on it can be gone on with."""
        with Journal(self.folder / JOURNAL) as journal:
            journal.write(began)

    def make_folders(self) -> None:
        """The folders within, where they are missing."""
        for name in (CASES, OBSERVATIONS, COUNTEREXAMPLES, LOGS):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def make(self) -> None:
        """The folder; refused if there is something in it, but for what a campaign leaves that never began."""
        try:
            self.make_folders()
            taken = any(place != JOURNAL for place in self.files()) or self.begun
        except OSError as error:
            raise Unwritable(str(self.folder), error.strerror or str(error), "Give another folder.") from None
        if taken:
            hint = "Give a new folder, or --resume to go on with the campaign in it."
            raise Unwritable(str(self.folder), "there is something in it already", hint)

    def journal(self) -> Journal:
        """The journal, to be read and written on."""
        self.tidy()
        return Journal(self.folder / JOURNAL)

    def tidy(self) -> None:
        """Remove what was being written when somebody was killed."""
        for unfinished in list(self.folder.rglob(".*.part")):
            if unfinished.is_dir() and not unfinished.is_symlink():
                shutil.rmtree(unfinished)
            else:
                unfinished.unlink(missing_ok=True)

    def log(self) -> Path:
        """Where the engine's stderr is kept."""
        return self.folder / LOGS / "engine.log"

    def action_log(self) -> Path:
        """The log of what the engine's adapter does."""
        return self.folder / LOGS / "adapter.log"

    def kept(self, name: str) -> Path:
        """The folder with the files that the engine left of a case or of a counterexample."""
        return self.folder / KEPT / _checked(name)

    def slices(self) -> Path:
        """Where a cluster's work is kept as it came."""
        return self.folder / SLICES

    def _place(self, folder: str, name: str) -> Path:
        """A file of a case. Names come from a journal, which anybody may have written."""
        return self.folder / folder / f"{_checked(name)}.json"

    def keep(self, name: str, case: Case, seen: Observations | None) -> None:
        """A case, and what was observed of it."""
        write_case(self._place(CASES, name), case)
        if seen is not None:
            _write_observations(self._place(OBSERVATIONS, name), seen)

    def case(self, name: str) -> Case:
        """A case that was kept."""
        return read_case(self._place(CASES, name))

    def observations(self, name: str) -> Observations | None:
        """What was observed of a case, if anything was."""
        path = self._place(OBSERVATIONS, name)
        return read(path, decode_observations) if path.exists() else None

    def counterexample(self, number: int, case: Case, seen: Observations | None) -> None:
        """Keep a counterexample, and what was seen when it failed last."""
        write_case(self.folder / COUNTEREXAMPLES / f"{number}.json", case)
        path = self.folder / COUNTEREXAMPLES / f"{number}-observations.json"
        if seen is not None:
            _write_observations(path, seen)
        else:
            path.unlink(missing_ok=True)

    def shrunk(self, file: str) -> tuple[Case, Observations | None]:
        """A counterexample by its place in the folder, and what was seen of it."""
        if not SHRUNK.fullmatch(file):
            raise Malformed(quote(file), "the file of a counterexample", file=JOURNAL)
        path = self.folder / seen_beside(file)
        return read_case(self.folder / file), read(path, decode_observations) if path.exists() else None

    def files(self) -> Iterator[str]:
        """
        Everything that a certificate vouches for, in order: all but itself, the logs, the files that the engine or a
        cluster left and the reports, which say nothing that is not said elsewhere, and would make it another
        certificate.
        """
        for path in sorted(self.folder.rglob("*")):
            place = path.relative_to(self.folder).as_posix()
            vouched = not place.startswith((f"{LOGS}/", f"{KEPT}/", f"{SLICES}/")) and place not in {
                CERTIFICATE,
                *REPORTS,
            }
            if vouched and (path.is_symlink() or not path.is_dir()):
                yield place

    def digests(self) -> dict[str, str]:
        """The SHA-256 of each of these files. What is no file of its own has none."""
        return {place: _digest(self.folder / place) for place in self.files()}


def _checked(name: str) -> str:
    if not NAME.fullmatch(name):
        raise Malformed(quote(name), "the name of a case: small letters, digits and dashes", file=JOURNAL)
    return name


def seen_beside(file: str) -> str:
    """Where what was seen of a counterexample stands."""
    return f"{file.removesuffix('.json')}-observations.json"


def _write_observations(path: Path, seen: Observations) -> None:
    text = json.dumps(encode_observations(seen), separators=(",", ":"), ensure_ascii=False)
    write_text(path, text + "\n")


def _digest(path: Path) -> str:
    if path.is_symlink() or not path.is_file():
        return "not a file"
    return hashlib.sha256(path.read_bytes()).hexdigest()


def engines_in(folder: Path) -> tuple[str, ...]:
    """The engines whose campaigns stand in a folder together, as they were named."""
    return read(folder / SEVERAL, _decode_words)


def _decode_words(value: object) -> tuple[str, ...]:
    words = list_of(itself, fields_of(value, required=("engines",))["engines"])
    for index, word in enumerate(words):
        if not isinstance(word, str):
            raise Malformed(quote(word), "the name of an engine", path=("engines", index))
    return words


def point_latest(folder: Path, *, within: Path) -> None:
    """`latest`, beside a folder, becomes a link to it, if the folder is one of those kept together there."""
    if folder.parent != within:
        return
    link, unfinished = folder.with_name(LATEST), folder.with_name(f".{LATEST}.part")
    if link.exists() and not link.is_symlink():
        return
    unfinished.unlink(missing_ok=True)
    unfinished.symlink_to(folder.name)
    unfinished.replace(link)
