"""All that a report shows, as values: what the templates are filled with."""

from collections.abc import Sequence
from pathlib import Path

from attrs import frozen
from markupsafe import Markup

from conformance.campaign.events import GUARANTEES
from conformance.case import Case
from conformance.reports import badge
from conformance.reports.compared import SideBySide, side_by_side
from conformance.reports.counterexamples import Counterexample, counterexamples
from conformance.reports.coverage import Reached, coverage
from conformance.reports.details import Told, told
from conformance.reports.history import Past, history
from conformance.reports.overview import Column, Fact, columns, command, facts, headline
from conformance.reports.runs import Run, runs_in
from conformance.reports.sensitivity import Sensitivity, sensitivity
from conformance.reports.times import Samples, Times, times


@frozen
class Badge:
    """An engine's badge, and where its files are."""

    word: str
    drawn: Markup
    folder: str


@frozen
class Report:
    """One report."""

    title: str
    columns: tuple[Column, ...]
    guarantees: tuple[str, ...]
    facts: tuple[Fact, ...]
    command: str
    counterexamples: tuple[Counterexample, ...]
    side_by_side: SideBySide | None
    coverage: dict[str, tuple[Reached, ...]]
    times: tuple[Times, ...]
    sensitivity: tuple[Sensitivity, ...]
    cases: tuple[Told, ...]
    badges: tuple[Badge, ...]
    history: tuple[Past, ...]


def report(folder: Path, before: Sequence[Path] = ()) -> Report:
    """The report on what stands in a folder; with others before it, also how it came there."""
    runs = runs_in(folder)
    cases = _cases(runs)
    every = sum(len(run.tally.judged) for run in runs)
    samples = {run.word: Samples() for run in runs}
    details = tuple(told(name, case, runs, samples, every) for name, case in cases.items())
    found = columns(runs)
    return Report(
        title=headline(found),
        columns=found,
        guarantees=tuple(GUARANTEES),
        facts=facts(runs),
        command=command(runs),
        counterexamples=counterexamples(runs),
        side_by_side=side_by_side(runs),
        coverage=coverage(runs, cases),
        times=tuple(times(word, each) for word, each in samples.items()),
        sensitivity=_sensitivities(runs),
        cases=details,
        badges=tuple(_badge(run, column.folder) for run, column in zip(runs, found, strict=True)),
        history=history([*before, folder]) if before else (),
    )


def _cases(runs: Sequence[Run]) -> dict[str, Case]:
    """Every case that was judged, in the order of the plan. They are the same for all engines."""
    found: dict[int, tuple[str, Case]] = {}
    for run in runs:
        for judged in run.tally.judged.values():
            if judged.index not in found:
                found[judged.index] = (judged.id, run.results.case(judged.id))
    return dict(found[index] for index in sorted(found))


def _sensitivities(runs: Sequence[Run]) -> tuple[Sensitivity, ...]:
    """One for all engines, where the same cases gave the same."""
    found = [each for run in runs if (each := sensitivity(run)) is not None]
    return tuple(each for n, each in enumerate(found) if each.groups not in [other.groups for other in found[:n]])


def _badge(run: Run, folder: str) -> Badge:
    return Badge(run.word, Markup(badge.svg(run.tally)), folder)  # noqa: S704 - made by us, what it says escaped
