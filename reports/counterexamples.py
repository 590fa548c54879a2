"""The counterexamples of all engines, worst first: the broken guarantee, the smallest case, and its diagrams."""

import json
import shlex
from collections.abc import Iterator, Sequence

from attrs import frozen
from markupsafe import Markup

from conformance.campaign.certificate import reproduction
from conformance.campaign.events import Guarantee, Shrunk, broken_by
from conformance.campaign.results import command_path, kept_name, observations_of
from conformance.case import Case
from conformance.codec import digest, encode_case
from conformance.judge.verdict import Finding, delivery_guarantee
from conformance.observation import Observations
from conformance.reports.alignment import AlignedRow, align
from conformance.reports.campaigns import EngineCampaign
from conformance.reports.diagrams import Diagram, draw_run, find_closest
from conformance.reports.graph import draw_graph
from conformance.reports.labels import describe_failures, describe_holds
from conformance.reports.overview import counterexample_anchor
from conformance.reports.sanitize import format_epochs
from conformance.reports.summary import describe_examination
from conformance.reports.timeline import read_log

GUARANTEES_FROM_WORST = ("none", "at-most-once", "at-least-once", "exactly-once up to order", "exactly-once")

MAX_JSON_LENGTH = 64_000
"""Characters of a case that is shown as JSON; a larger case has its file."""


@frozen
class Counterexample:
    """The smallest case that breaks one guarantee of one engine."""

    anchor: str
    engine: str
    guarantee: Guarantee
    diagnosis: str
    because: str
    delivery_guarantee: str
    facts: tuple[str, ...]
    graph: Markup
    inputs: tuple[tuple[str, tuple[str, ...]], ...]
    failures: tuple[str, ...]
    holds: tuple[str, ...]
    diagrams: tuple[Diagram, ...]
    rows: tuple[AlignedRow, ...]
    run_command: str
    check_command: str
    json: str
    kept: str
    """The folder of the files that the engine left of its last failing run; empty, if there is none."""


def list_counterexamples(campaigns: Sequence[EngineCampaign]) -> tuple[Counterexample, ...]:
    """List counterexamples by the guarantee that remains, then how often the case fails, then how many cases fail."""
    found = [(campaign, shrunk) for campaign in campaigns for shrunk in campaign.tally.shrunk.values()]
    found.sort(key=lambda each: _rank(*each))
    return tuple(_counterexample(*each, several=len(campaigns) > 1) for each in found)


def _rank(campaign: EngineCampaign, shrunk: Shrunk) -> tuple[int, float, int]:
    remaining = GUARANTEES_FROM_WORST.index(delivery_guarantee(shrunk.findings))
    return remaining, -shrunk.rate.share, -_count_violations(campaign, shrunk)


def _count_violations(campaign: EngineCampaign, shrunk: Shrunk) -> int:
    return sum(1 for _ in campaign.tally.violations(shrunk.guarantee))


def _counterexample(campaign: EngineCampaign, shrunk: Shrunk, *, several: bool) -> Counterexample:
    case, observed = campaign.results.counterexample(shrunk.file)
    origin = campaign.tally.judged.get(shrunk.index)
    if observed is None and origin is not None and shrunk.digest == origin.digest:
        observed = campaign.results.observations(origin.id)
    findings = [each for each in shrunk.findings if broken_by(each) == shrunk.guarantee] or list(shrunk.findings)
    diagrams, rows = _draw(case, observed, findings)
    folder = command_path(campaign.results.folder)
    files = (f"{folder}/{shrunk.file}", f"{folder}/{observations_of(shrunk.file)}")
    check = shlex.join(["conformance", "check", *files])
    text = json.dumps(encode_case(case), indent=1)
    return Counterexample(
        anchor=counterexample_anchor(campaign, shrunk.guarantee),
        engine=campaign.engine,
        guarantee=shrunk.guarantee,
        diagnosis=findings[0].diagnosis,
        because=findings[0].because,
        delivery_guarantee=delivery_guarantee(shrunk.findings),
        facts=tuple(_list_facts(campaign, shrunk)),
        graph=draw_graph(case),
        inputs=tuple((source, format_epochs(case.inputs[source])) for source in case.graph.sources),
        failures=describe_failures(case),
        holds=describe_holds(case),
        diagrams=diagrams,
        rows=rows,
        run_command=reproduction(campaign.tally, shrunk, folder),
        check_command=check if observed is not None else "",
        json=text if len(text) <= MAX_JSON_LENGTH else "",
        kept=_kept(campaign, shrunk, several=several),
    )


def _kept(campaign: EngineCampaign, shrunk: Shrunk, *, several: bool) -> str:
    """Return the folder of the engine's files, relative to the report, if there is one."""
    folder = campaign.results.kept(kept_name(shrunk.file))
    prefix = f"{campaign.slug}/" if several else ""
    return f"{prefix}{folder.relative_to(campaign.results.folder).as_posix()}/" if folder.is_dir() else ""


def _draw(
    case: Case, observed: Observations | None, findings: Sequence[Finding]
) -> tuple[tuple[Diagram, ...], tuple[AlignedRow, ...]]:
    if observed is None or not observed.observations or observed.case_digest != digest(case):
        return (), ()
    closest = find_closest(case, observed)
    rows = align(case, observed, findings, closest.streams) if closest is not None else ()
    return draw_run(case, observed, closest, read_log(case, observed.log), conforms=False), rows


def _list_facts(campaign: EngineCampaign, shrunk: Shrunk) -> Iterator[str]:
    tally = campaign.tally
    violations = _count_violations(campaign, shrunk)
    yield f"Broken in {violations} of {len(tally.judged)} cases, first shrunk from {shrunk.id} ({shrunk.before})."
    yield f"The smallest case found ({shrunk.after}) fails in {shrunk.rate}."
    if (examined := tally.examined.get(shrunk.index)) is not None:
        yield from describe_examination(examined)
