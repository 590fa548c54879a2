"""The campaigns that a report is about, read from their folders."""

from functools import cached_property
from pathlib import Path

from attrs import frozen

from conformance.campaign.events import Began, Judged
from conformance.campaign.journal import read_events
from conformance.campaign.results import JOURNAL, SEVERAL, Results, engines_in, slug
from conformance.campaign.tally import Tally
from conformance.errors import Unreadable


@frozen(slots=False)
class Run:
    """One engine's campaign."""

    tally: Tally
    results: Results

    @property
    def began(self) -> Began:
        """How it began."""
        assert self.tally.began is not None  # noqa: S101 - `run_in` saw to it
        return self.tally.began

    @property
    def word(self) -> str:
        """The engine as it was named."""
        return self.began.engine

    @property
    def slug(self) -> str:
        """The same, for a link."""
        return slug(self.word)

    @cached_property
    def by_name(self) -> dict[str, Judged]:
        """What came of each case, by its name."""
        return {judged.id: judged for judged in self.tally.judged.values()}

    @cached_property
    def violating(self) -> dict[str, int]:
        """The cases that violate, and the how manyeth of them each is."""
        found = [each.id for each in self.tally.judged.values() if self.tally.outcome(each) == "violates"]
        return {name: place for place, name in enumerate(found)}


def run_in(folder: Path) -> Run:
    """The campaign in a folder, ended or not."""
    tally = Tally.of(read_events(folder / JOURNAL))
    if tally.began is None:
        hint = "Give a folder that `conformance certify` made."
        raise Unreadable(str(folder / JOURNAL), "it does not say how a campaign began", hint)
    return Run(tally, Results(folder))


def runs_in(folder: Path) -> list[Run]:
    """The campaigns in a folder: one, or one for each of several engines, as far as they were begun."""
    if (folder / SEVERAL).is_file():
        folders = [folder / slug(word) for word in engines_in(folder)]
        if begun := [run_in(each) for each in folders if Results(each).begun]:
            return begun
        raise Unreadable(str(folder), "no campaign was begun in it", "Run it first: `conformance certify --resume`.")
    return [run_in(folder)]
