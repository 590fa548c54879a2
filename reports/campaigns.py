"""The campaigns that a report shows, read from a results folder: one, or one for each of several engines."""

from functools import cached_property
from pathlib import Path

from attrs import frozen

from conformance.campaign.events import Began, Judged
from conformance.campaign.journal import read_events
from conformance.campaign.results import JOURNAL, SEVERAL, Results, engines_in, slug
from conformance.campaign.tally import Tally
from conformance.errors import Unreadable


@frozen(slots=False)
class EngineCampaign:
    """One engine's campaign: the tally of its journal, and its files."""

    tally: Tally
    results: Results

    @property
    def began(self) -> Began:
        assert self.tally.began is not None  # noqa: S101 - `read_campaign` refuses a journal without it
        return self.tally.began

    @property
    def engine(self) -> str:
        """The engine's name, as it was given to `certify`."""
        return self.began.engine

    @property
    def slug(self) -> str:
        """The engine's name as part of a file name or a link."""
        return slug(self.engine)

    @cached_property
    def judged_by_case(self) -> dict[str, Judged]:
        """The judged cases, by the case's name."""
        return {judged.id: judged for judged in self.tally.judged.values()}

    @cached_property
    def violation_numbers(self) -> dict[str, int]:
        """The cases that violate, numbered from 0, by the case's name."""
        names = [judged.id for judged in self.tally.judged.values() if self.tally.outcome(judged) == "violates"]
        return {name: number for number, name in enumerate(names)}


def read_campaign(folder: Path) -> EngineCampaign:
    """Read the campaign in a folder, finished or not."""
    tally = Tally.of(read_events(folder / JOURNAL))
    if tally.began is None:
        hint = "Give a folder that `conformance certify` made."
        raise Unreadable(str(folder / JOURNAL), "it does not say how a campaign began", hint)
    return EngineCampaign(tally, Results(folder))


def read_campaigns(folder: Path) -> list[EngineCampaign]:
    """Read all campaigns in a folder: one, or those of several engines that have begun."""
    if (folder / SEVERAL).is_file():
        folders = [folder / slug(engine) for engine in engines_in(folder)]
        if campaigns := [read_campaign(each) for each in folders if Results(each).begun]:
            return campaigns
        raise Unreadable(str(folder), "no campaign was begun in it", "Run it first: `conformance certify --resume`.")
    return [read_campaign(folder)]
