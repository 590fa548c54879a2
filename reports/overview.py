"""The top of a report: the verdict on each engine, the facts of the campaign, and the matrix of guarantees."""

import json
import shlex
from collections.abc import Sequence
from typing import get_args

from attrs import frozen

from conformance.campaign.certificate import meaning
from conformance.campaign.events import GUARANTEES, Guarantee, Outcome
from conformance.campaign.plan import PROFILES, plan_of
from conformance.campaign.session import CampaignConfig
from conformance.campaign.tally import EngineVerdict
from conformance.reports.campaigns import EngineCampaign
from conformance.reports.labels import format_count
from conformance.reports.sanitize import sanitize
from conformance.reports.summary import format_places

NOT_RUN: tuple[EngineVerdict, str] = ("inconclusive", "Nothing has been run.")
"""The verdict on a campaign without a judged case."""


@frozen
class GuaranteeCell:
    """A guarantee of an engine: the verdict, the number of cases, and a link to the counterexample or the cases."""

    verdict: EngineVerdict
    count: str
    link: str


@frozen
class EngineColumn:
    """An engine: its verdict, its description, and its column of the matrix."""

    engine: str
    slug: str
    verdict: EngineVerdict
    because: str
    meaning: str
    version: str
    settings: str
    claims: str
    places: str
    cells: tuple[GuaranteeCell, ...]
    outcomes: tuple[tuple[Outcome, int], ...]
    folder: str


@frozen
class Fact:
    """A fact about the campaign, with its name."""

    name: str
    value: str


def list_columns(campaigns: Sequence[EngineCampaign]) -> tuple[EngineColumn, ...]:
    """List the engines, in the order in which they were named."""
    return tuple(_column(campaign, several=len(campaigns) > 1) for campaign in campaigns)


def _column(campaign: EngineCampaign, *, several: bool) -> EngineColumn:
    tally = campaign.tally
    verdict, because = tally.verdict if tally.judged else NOT_RUN
    if not tally.ended:
        because = f"Not finished: {len(tally.judged)} of {len(plan_of(campaign.began))} cases so far. {because}"
    info = campaign.began.description.info
    counts = tally.counts()
    return EngineColumn(
        engine=campaign.engine,
        slug=campaign.slug,
        verdict=verdict,
        because=because,
        meaning=meaning(tally) or _explain_no_meaning(verdict),
        version=f"{info.name} {info.version}",
        settings=_format_settings(campaign),
        claims=_format_claims(campaign),
        places=sanitize(format_places(tally), 300),
        cells=tuple(_cell(campaign, guarantee) for guarantee in GUARANTEES),
        outcomes=tuple((outcome, counts[outcome]) for outcome in get_args(Outcome)),
        folder=f"{campaign.slug}/" if several else "",
    )


def _explain_no_meaning(verdict: EngineVerdict) -> str:
    if verdict == "violates":
        return "One violation is enough, however many cases conform."
    return "No generated case with failures has a verdict."


def _format_settings(campaign: EngineCampaign) -> str:
    settings = campaign.began.description.info.settings
    pairs = (f"{name}: {value if isinstance(value, str) else _json(value)}" for name, value in settings.items())
    return sanitize(", ".join(pairs), 300) or "none"


def _json(value: object) -> str:
    return json.dumps(value, default=str)


def _format_claims(campaign: EngineCampaign) -> str:
    description = campaign.began.description
    epochs = "the case's epochs" if description.epochs == "given" else "epochs of its own"
    commits = "all streams committed at once" if description.atomic else "streams committed one by one"
    return f"{epochs}, {commits}, {description.snapshots} snapshots"


def counterexample_anchor(campaign: EngineCampaign, guarantee: Guarantee) -> str:
    """Return the id of a counterexample's section."""
    return f"x-{campaign.slug}-{tuple(GUARANTEES).index(guarantee)}"


def _cell(campaign: EngineCampaign, guarantee: Guarantee) -> GuaranteeCell:
    tally = campaign.tally
    verdict = tally.guarantee_verdict(guarantee) if tally.judged else NOT_RUN[0]
    if verdict == "violates":
        broken = sum(1 for _ in tally.violations(guarantee))
        anchor = counterexample_anchor(campaign, guarantee) if guarantee in tally.shrunk else f"cases-{campaign.slug}"
        return GuaranteeCell(verdict, f"{broken} of {format_count(len(tally.judged), 'case')}", f"#{anchor}")
    return GuaranteeCell(verdict, format_count(len(tally.exercised), "case"), "#cases")


def list_facts(campaigns: Sequence[EngineCampaign]) -> tuple[Fact, ...]:
    """List when, with which cases and on which machine the campaigns ran."""
    began = campaigns[0].began
    planned = len(plan_of(began))
    return (
        Fact(
            "Cases", f"{planned:,} for each engine: {planned - began.cases} written by hand, {began.cases:,} generated"
        ),
        Fact("Profile and seed", f"{began.profile}, seed {began.seed}"),
        Fact("Begun on", began.date),
        Fact("Machine", f"{began.system} {began.machine}, Python {began.python}"),
        Fact("Suite", f"dataflow-conformance {began.suite}, Hypothesis {began.hypothesis}"),
    )


def format_command(campaigns: Sequence[EngineCampaign]) -> str:
    """Format the command that runs the same campaigns again, without options that have their default."""
    began, default = campaigns[0].began, CampaignConfig()
    arguments = [campaign.engine for campaign in campaigns]
    if began.profile != default.profile:
        arguments += ["--profile", began.profile]
    if began.cases != PROFILES[began.profile].cases:
        arguments += ["--cases", str(began.cases)]
    if began.seed != default.seed:
        arguments += ["--seed", str(began.seed)]
    for name in ("deadline", "shrink_runs", "shrink_seconds"):
        if getattr(began, name) != getattr(default, name):
            arguments += [f"--{name.replace('_', '-')}", f"{getattr(began, name):g}"]
    return shlex.join(["conformance", "certify", *arguments])


def format_title(columns: Sequence[EngineColumn]) -> str:
    """Format the report's title, which a browser's tab shows."""
    if len(columns) == 1:
        return f"{columns[0].engine} {_verb(columns[0].verdict)}"
    violating = sum(column.verdict == "violates" for column in columns)
    if violating:
        return f"{violating} of {len(columns)} engines violate failure transparency"
    conforming = sum(column.verdict == "conforms" for column in columns)
    return f"{conforming} of {len(columns)} engines conform"


def _verb(verdict: EngineVerdict) -> str:
    return verdict if verdict in {"conforms", "violates"} else f"is {verdict}" if verdict != "error" else "is in error"
