"""
The details of every case: its graph, input and failures, and for each engine the outcome, output and diagrams.

A report with many runs shows less of each, so that it stays small enough for a browser.
"""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress

from attrs import frozen
from markupsafe import Markup

from conformance.campaign.events import CaseSize, Judged, Outcome
from conformance.campaign.results import command_path
from conformance.case import Case, Epochs
from conformance.errors import ConformanceError
from conformance.observation import Observations
from conformance.reports.campaigns import EngineCampaign
from conformance.reports.diagrams import Diagram, draw_run, draw_witness, find_closest, find_witness
from conformance.reports.graph import draw_graph
from conformance.reports.labels import describe_failure, describe_failures, describe_holds
from conformance.reports.sanitize import MAX_LINES, format_epochs
from conformance.reports.timeline import Timeline, failures_before, read_log
from conformance.reports.times import Samples

MAX_RUNS_WITH_TITLES = 450
"""Runs in a report above which diagrams are brief: messages have no titles, and a conforming run has one diagram."""

MAX_RUNS_WITH_DIAGRAMS = 1_200
"""Runs in a report above which conforming runs have no diagram: drawing takes long, and the diagrams are too many."""

MAX_RUNS_WITH_DETAILS = 3_000
"""Runs in a report above which conforming cases have no details, only a link to their files."""

MAX_VIOLATION_DIAGRAMS = 60
"""Violating runs of an engine that have brief diagrams: most of the others show the same violation."""


@frozen
class StreamEpochs:
    """The events of a stream, epoch by epoch."""

    stream: str
    epochs: tuple[str, ...]


@frozen
class SharedOutput:
    """The last output, and the engines that show it."""

    engines: str
    streams: tuple[StreamEpochs, ...]


@frozen
class CaseResult:
    """The result of a case on one engine."""

    engine: str
    slug: str
    outcome: Outcome
    because: tuple[str, ...]
    note: str
    chronology: tuple[str, ...]
    """Observations and failures, in the order in which they happened."""
    output: tuple[StreamEpochs, ...]
    diagrams: tuple[Diagram, ...]
    command: str


@frozen
class CaseDetails:
    """A case, and its runs on all engines."""

    id: str
    size: str
    file: str
    graph: Markup
    inputs: tuple[StreamEpochs, ...]
    failures: tuple[str, ...]
    holds: tuple[str, ...]
    runs: tuple[CaseResult, ...]
    outputs: tuple[SharedOutput, ...]
    filter_keys: str
    """The outcomes by which the page filters cases, each with its engine."""
    detailed: bool = True


def describe_case(
    name: str, case: Case, campaigns: Sequence[EngineCampaign], samples: dict[str, Samples], total_runs: int
) -> CaseDetails:
    """Describe a case and its runs, and add the runs to the samples of their engines."""
    # An engine that was given up has not run all cases.
    judged_runs = [(each, each.judged_by_case[name]) for each in campaigns if name in each.judged_by_case]
    outcomes = [campaign.tally.outcome(judged) for campaign, judged in judged_runs]
    detailed = total_runs <= MAX_RUNS_WITH_DETAILS or any(outcome != "conforms" for outcome in outcomes)
    runs = []
    for (campaign, judged), outcome in zip(judged_runs, outcomes, strict=True):
        level = _DetailLevel(total_runs, outcome, campaign.violation_numbers.get(name, 0), detailed)
        runs.append(_describe_run(case, campaign, judged, samples[campaign.engine], level))
    folder = f"{campaigns[0].slug}/" if len(campaigns) > 1 else ""
    return CaseDetails(
        id=name,
        size=str(CaseSize.of(case)),
        file=f"{folder}cases/{name}.json",
        graph=draw_graph(case) if detailed else Markup(""),
        inputs=tuple(_format_stream(source, case.inputs[source]) for source in case.graph.sources),
        failures=describe_failures(case),
        holds=describe_holds(case),
        runs=tuple(runs),
        outputs=_group_outputs(runs),
        filter_keys=" ".join(f"{run.slug}:{run.outcome.replace(' ', '-')}" for run in runs),
        detailed=detailed,
    )


def _group_outputs(runs: Sequence[CaseResult]) -> tuple[SharedOutput, ...]:
    engines: dict[tuple[StreamEpochs, ...], list[str]] = {}
    for run in runs:
        if run.output:
            engines.setdefault(run.output, []).append(run.engine)
    return tuple(SharedOutput(", ".join(names), output) for output, names in engines.items())


@frozen
class _DetailLevel:
    """How much of a run is shown in a report of so many runs."""

    total_runs: int
    outcome: Outcome
    violation_number: int
    """The number of this run among the engine's violating runs; 0, if it does not violate."""
    detailed: bool

    @property
    def draw(self) -> bool:
        wanted = self.total_runs <= MAX_RUNS_WITH_DIAGRAMS or self.outcome != "conforms"
        return wanted and (not self.brief or self.violation_number < MAX_VIOLATION_DIAGRAMS)

    @property
    def brief(self) -> bool:
        return self.total_runs > MAX_RUNS_WITH_TITLES


def _describe_run(
    case: Case, campaign: EngineCampaign, judged: Judged, samples: Samples, level: _DetailLevel
) -> CaseResult:
    observed = _read_observations(campaign, judged.id)
    findings = tuple(f"{each.diagnosis}: {each.because}" for each in judged.findings[:MAX_LINES])
    diagrams: tuple[Diagram, ...] = ()
    if observed is not None:
        log = read_log(case, observed.log)
        samples.add(case, observed, log)
        if level.draw and observed.observations:
            # Observations that do not fit the case are not drawn; `conformance verify` reports them.
            with suppress(ConformanceError):
                observed.check_fit(case, judged.digest)
                diagrams = _draw_diagrams(case, observed, log, level)
    return CaseResult(
        engine=campaign.engine,
        slug=campaign.slug,
        outcome=level.outcome,
        because=tuple(each for each in findings or (judged.because,) if each),
        note="Only its sinks were observed." if judged.sinks_only else "",
        chronology=_list_chronology(case, observed, level) if observed is not None and level.detailed else (),
        output=tuple(_format_output(case, observed)) if observed is not None and level.detailed else (),
        diagrams=diagrams,
        command="" if level.brief and level.outcome == "conforms" else _format_command(campaign, judged),
    )


def _format_command(campaign: EngineCampaign, judged: Judged) -> str:
    """Format the command that runs a case again."""
    file = f"{command_path(campaign.results.folder)}/cases/{judged.id}.json"
    sinks = ["--sinks"] if judged.sinks_only else []
    return shlex.join(["conformance", "run", file, campaign.engine, *sinks])


def _list_chronology(case: Case, observed: Observations, level: _DetailLevel) -> tuple[str, ...]:
    """List observations and failures line by line; on one line for a conforming run in a brief report."""
    if not level.brief or level.outcome != "conforms":
        return tuple(_list_lines(case, observed))
    marks = []
    for index, observation in enumerate(observed.observations[:MAX_LINES]):
        marks += ["✕" for fired in observed.fired if fired.before == index]
        marks.append(str(max(map(len, observation.streams.values()), default=0)))
    return (f"Epochs shown in each observation: {' '.join(marks)}",)


def _list_lines(case: Case, observed: Observations) -> Iterator[str]:
    """Yield a line for each failure, and for each observation that shows something new."""
    before = -1
    lines = 0
    for index, observation in enumerate(observed.observations):
        yield from _list_failures(case, observed, index)
        epochs = sorted({len(stream) for stream in observation.streams.values()})
        newest = max(epochs, default=0)
        if (newest != before or len(epochs) > 1) and lines < MAX_LINES:
            lines += 1
            numbers = " to ".join(map(str, epochs)) if epochs != [0] else "none"
            yield f"▾ {_format_time(observation.t)}observation {index}: epochs shown: {numbers}"
        before = newest
    yield from _list_failures(case, observed, len(observed.observations))
    if observed.end != "completed":
        yield f"■ the run ended: {observed.end}{f', {observed.message}' if observed.message else ''}"


def _list_failures(case: Case, observed: Observations, index: int) -> Iterator[str]:
    for fired, failure in failures_before(case, observed, index):
        yield f"✕ {_format_time(fired.t)}{describe_failure(failure)}"


def _format_time(t: float | None) -> str:
    return f"{t:.2f} s, " if t is not None else ""


def _draw_diagrams(case: Case, observed: Observations, log: Timeline, level: _DetailLevel) -> tuple[Diagram, ...]:
    if level.outcome == "violates":
        return draw_run(case, observed, find_closest(case, observed), log, conforms=False, brief=level.brief)
    if level.outcome != "conforms":
        return draw_run(case, observed, None, log, conforms=False, brief=level.brief)
    witness = find_witness(case, observed)
    if log and level.brief:
        return draw_witness(witness, brief=True)
    run = draw_run(case, observed, witness, log, conforms=True, brief=level.brief)
    return (*run, *draw_witness(witness, brief=level.brief)) if log else run


def _read_observations(campaign: EngineCampaign, name: str) -> Observations | None:
    """Read the observations of a case; None if the file is damaged, which `conformance verify` reports."""
    try:
        return campaign.results.observations(name)
    except ConformanceError:
        return None


def _format_output(case: Case, observed: Observations) -> Iterator[StreamEpochs]:
    last = observed.observations[-1].streams if observed.observations else {}
    for stream in case.graph.streams:
        if stream in last and stream not in case.graph.sources:
            yield _format_stream(stream, last[stream])


def _format_stream(stream: str, epochs: Epochs) -> StreamEpochs:
    return StreamEpochs(stream, format_epochs(epochs))
