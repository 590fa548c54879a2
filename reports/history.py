"""The history of an engine over several results folders: verdicts and median times, campaign by campaign."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from attrs import frozen
from markupsafe import Markup

from conformance.campaign.events import GUARANTEES
from conformance.campaign.tally import EngineVerdict
from conformance.errors import ConformanceError
from conformance.reports.campaigns import EngineCampaign, read_campaigns
from conformance.reports.charts import draw_trend, format_seconds
from conformance.reports.times import measure_recoveries


@frozen
class CampaignSummary:
    """One campaign of an engine, as a row of its history."""

    version: str
    date: str
    suite: str
    verdict: EngineVerdict
    broken: str
    cases: int
    case_seconds: float | None
    """The median time of a case, in seconds."""
    recovery_seconds: float | None
    """The median time of a recovery, in seconds."""

    @property
    def case_time(self) -> str:
        return _format_time(self.case_seconds)

    @property
    def recovery_time(self) -> str:
        return _format_time(self.recovery_seconds)


@frozen
class EngineHistory:
    """The campaigns of one engine, and the trends of its median times."""

    engine: str
    campaigns: tuple[CampaignSummary, ...]
    case_trend: Markup
    recovery_trend: Markup


def read_history(folders: Sequence[Path]) -> tuple[EngineHistory, ...]:
    """Read the history of every engine in the folders, in the order of the folders."""
    summaries: dict[str, list[CampaignSummary]] = {}
    for folder in folders:
        for campaign in read_campaigns(folder):
            summaries.setdefault(campaign.engine, []).append(_summarize(campaign))
    return tuple(_history(engine, campaigns) for engine, campaigns in summaries.items())


def _history(engine: str, campaigns: Sequence[CampaignSummary]) -> EngineHistory:
    cases = [campaign.case_seconds for campaign in campaigns]
    recoveries = [campaign.recovery_seconds for campaign in campaigns]
    return EngineHistory(
        engine,
        tuple(campaigns),
        draw_trend(cases, "Median time of a case, from one campaign to the next"),
        draw_trend(recoveries, "Median time of a recovery, from one campaign to the next"),
    )


def _format_time(seconds: float | None) -> str:
    return "not known" if seconds is None else format_seconds(seconds)


def _summarize(campaign: EngineCampaign) -> CampaignSummary:
    cases, recoveries = [], []
    for judged in campaign.tally.judged.values():
        try:
            observed = campaign.results.observations(judged.id)
            case = campaign.results.case(judged.id) if observed is not None and observed.fired else None
        except ConformanceError:
            continue
        if observed is not None and observed.observations and (t := observed.observations[-1].t) is not None:
            cases.append(t)
        if observed is not None and case is not None:
            recoveries += [seconds for _, seconds in measure_recoveries(case, observed)]
    info, tally = campaign.began.description.info, campaign.tally
    return CampaignSummary(
        version=f"{info.name} {info.version}",
        date=campaign.began.date,
        suite=campaign.began.suite,
        verdict=tally.verdict[0],
        broken=", ".join(each for each in GUARANTEES if tally.guarantee_verdict(each) == "violates") or "none",
        cases=len(tally.exercised),
        case_seconds=median(cases) if cases else None,
        recovery_seconds=median(recoveries) if recoveries else None,
    )
