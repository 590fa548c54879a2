"""The top of a report: the verdict on each engine, what it rests on, and guarantees against engines."""

import json
import shlex
from collections.abc import Sequence
from typing import get_args

from attrs import frozen

from conformance.campaign.certificate import meaning
from conformance.campaign.events import GUARANTEES, Outcome
from conformance.campaign.plan import PROFILES, plan_of
from conformance.campaign.session import CampaignConfig
from conformance.campaign.tally import Summary
from conformance.reports.labels import format_count
from conformance.reports.runs import Run
from conformance.reports.sanitize import sanitize

NOTHING: tuple[Summary, str] = ("inconclusive", "Nothing has been run.")
"""Of a campaign that has only begun."""


@frozen
class Cell:
    """A guarantee of an engine: the verdict, in how many cases it is broken, and where more is said of it."""

    verdict: Summary
    count: str
    link: str


@frozen
class Column:
    """An engine."""

    word: str
    slug: str
    verdict: Summary
    because: str
    meaning: str
    version: str
    settings: str
    claims: str
    cells: tuple[Cell, ...]
    outcomes: tuple[tuple[Outcome, int], ...]
    folder: str


@frozen
class Fact:
    """Something one would ask."""

    name: str
    said: str


def columns(runs: Sequence[Run]) -> tuple[Column, ...]:
    """The engines, in the order in which they were named."""
    return tuple(_column(run, several=len(runs) > 1) for run in runs)


def _column(run: Run, *, several: bool) -> Column:
    tally = run.tally
    verdict, because = tally.verdict if tally.judged else NOTHING
    if not tally.ended:
        because = f"Not finished: {len(tally.judged)} of {len(plan_of(run.began))} cases so far. {because}"
    info = run.began.description.info
    counts = tally.counts()
    return Column(
        word=run.word,
        slug=run.slug,
        verdict=verdict,
        because=because,
        meaning=meaning(tally) or _why_no_meaning(verdict),
        version=f"{info.name} {info.version}",
        settings=_settings(run),
        claims=_claims(run),
        cells=tuple(_cell(run, number) for number in range(len(GUARANTEES))),
        outcomes=tuple((outcome, counts[outcome]) for outcome in get_args(Outcome)),
        folder=f"{run.slug}/" if several else "",
    )


def _why_no_meaning(verdict: Summary) -> str:
    if verdict == "violates":
        return "A violation that was seen is one, however many cases show none."
    return "No generated case with a failure counts, so there is nothing to be sure of."


def _settings(run: Run) -> str:
    settings = run.began.description.info.settings
    said = ", ".join(f"{name}: {value if isinstance(value, str) else _json(value)}" for name, value in settings.items())
    return sanitize(said, 300) or "none"


def _json(value: object) -> str:
    return json.dumps(value, default=str)


def _claims(run: Run) -> str:
    claimed = run.began.description
    epochs = "the case's epochs" if claimed.epochs == "given" else "epochs of its own"
    commits = "all streams committed at once" if claimed.atomic else "streams committed one by one"
    return f"{epochs}, {commits}, {claimed.snapshots} snapshots"


def _cell(run: Run, number: int) -> Cell:
    guarantee = tuple(GUARANTEES)[number]
    tally = run.tally
    verdict = tally.guarantee_verdict(guarantee) if tally.judged else NOTHING[0]
    if verdict == "violates":
        broken = sum(1 for _ in tally.violations(guarantee))
        link = f"#x-{run.slug}-{number}" if guarantee in tally.shrunk else f"#cases-{run.slug}"
        return Cell(verdict, f"{broken} of {format_count(len(tally.judged), 'case')}", link)
    return Cell(verdict, format_count(len(tally.exercised), "case"), "#cases")


def facts(runs: Sequence[Run]) -> tuple[Fact, ...]:
    """When, on what, with what."""
    began = runs[0].began
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


def command(runs: Sequence[Run]) -> str:
    """What does the same again."""
    began, usual = runs[0].began, CampaignConfig()
    asked = [run.word for run in runs]
    if began.profile != usual.profile:
        asked += ["--profile", began.profile]
    if began.cases != PROFILES[began.profile].cases:
        asked += ["--cases", str(began.cases)]
    if began.seed != usual.seed:
        asked += ["--seed", str(began.seed)]
    for name in ("deadline", "shrink_runs", "shrink_seconds"):
        if getattr(began, name) != getattr(usual, name):
            asked += [f"--{name.replace('_', '-')}", f"{getattr(began, name):g}"]
    return shlex.join(["conformance", "certify", *asked])


def headline(found: Sequence[Column]) -> str:
    """A report's title, and what a browser's tab says."""
    if len(found) == 1:
        return f"{found[0].word} {_verb(found[0].verdict)}"
    bad = [column.word for column in found if column.verdict == "violates"]
    if bad:
        return f"{len(bad)} of {len(found)} engines violate failure transparency"
    good = sum(column.verdict == "conforms" for column in found)
    return f"{good} of {len(found)} engines conform"


def _verb(verdict: Summary) -> str:
    return verdict if verdict in {"conforms", "violates"} else f"is {verdict}" if verdict != "error" else "is in error"
