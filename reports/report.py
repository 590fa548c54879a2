"""The report as values: what the templates show of the campaigns in a results folder."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen
from markupsafe import Markup

from conformance.campaign.events import GUARANTEES
from conformance.campaign.results import CERTIFICATE, command_path
from conformance.case import Case
from conformance.reports.badge import draw_badge
from conformance.reports.campaigns import EngineCampaign, read_campaigns
from conformance.reports.case_details import CaseDetails, describe_case
from conformance.reports.comparison import EngineComparison, compare_engines
from conformance.reports.counterexamples import Counterexample, list_counterexamples
from conformance.reports.coverage import SituationCoverage, measure_coverage
from conformance.reports.history import EngineHistory, read_history
from conformance.reports.mutation_results import MutationResults, list_mutation_results
from conformance.reports.overview import EngineColumn, Fact, format_command, format_title, list_columns, list_facts
from conformance.reports.times import EngineTimes, Samples, draw_times


@frozen
class Badge:
    """An engine's badge, the folder of its files, and the command that verifies its certificate."""

    svg: Markup
    folder: str
    verify_command: str


@frozen
class Report:
    """A report, section by section."""

    title: str
    columns: tuple[EngineColumn, ...]
    guarantees: tuple[str, ...]
    facts: tuple[Fact, ...]
    command: str
    counterexamples: tuple[Counterexample, ...]
    comparison: EngineComparison | None
    coverage: dict[str, tuple[SituationCoverage, ...]]
    times: tuple[EngineTimes, ...]
    mutation_results: tuple[MutationResults, ...]
    cases: tuple[CaseDetails, ...]
    badges: tuple[Badge, ...]
    history: tuple[EngineHistory, ...]


def build_report(folder: Path, earlier: Sequence[Path] = ()) -> Report:
    """Build the report on a results folder, with a history if there are earlier results folders."""
    campaigns = read_campaigns(folder)
    cases = _read_cases(campaigns)
    total_runs = sum(len(campaign.tally.judged) for campaign in campaigns)
    samples = {campaign.engine: Samples() for campaign in campaigns}
    details = tuple(describe_case(name, case, campaigns, samples, total_runs) for name, case in cases.items())
    columns = list_columns(campaigns)
    return Report(
        title=format_title(columns),
        columns=columns,
        guarantees=tuple(GUARANTEES),
        facts=list_facts(campaigns),
        command=format_command(campaigns),
        counterexamples=list_counterexamples(campaigns),
        comparison=compare_engines(campaigns),
        coverage=measure_coverage(campaigns, cases),
        times=tuple(draw_times(engine, each) for engine, each in samples.items()),
        mutation_results=_list_mutation_results(campaigns),
        cases=details,
        badges=tuple(_badge(campaign, column.folder) for campaign, column in zip(campaigns, columns, strict=True)),
        history=read_history([*earlier, folder]) if earlier else (),
    )


def _read_cases(campaigns: Sequence[EngineCampaign]) -> dict[str, Case]:
    """Read every judged case, in the order of the plan. A case is the same for all engines."""
    cases: dict[int, tuple[str, Case]] = {}
    for campaign in campaigns:
        for judged in campaign.tally.judged.values():
            if judged.index not in cases:
                cases[judged.index] = (judged.id, campaign.results.case(judged.id))
    return dict(cases[index] for index in sorted(cases))


def _list_mutation_results(campaigns: Sequence[EngineCampaign]) -> tuple[MutationResults, ...]:
    """List results once where the same cases gave several engines the same results."""
    found = [results for campaign in campaigns if (results := list_mutation_results(campaign)) is not None]
    return tuple(each for n, each in enumerate(found) if each.groups not in [other.groups for other in found[:n]])


def _badge(campaign: EngineCampaign, folder: str) -> Badge:
    verify = shlex.join(["conformance", "verify", command_path(campaign.results.folder / CERTIFICATE)])
    return Badge(Markup(draw_badge(campaign.tally)), folder, verify)  # noqa: S704 - our own markup, with escaped text
