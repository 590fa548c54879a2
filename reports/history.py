"""From one campaign to the next: verdicts and times over versions."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from attrs import frozen
from markupsafe import Markup

from conformance.campaign.events import GUARANTEES
from conformance.campaign.tally import Summary
from conformance.errors import ConformanceError
from conformance.reports.charts import draw_trend, format_seconds
from conformance.reports.runs import Run, runs_in
from conformance.reports.times import recoveries


@frozen
class Then:
    """An engine in one of the campaigns."""

    version: str
    date: str
    suite: str
    verdict: Summary
    broken: str
    cases: int
    case: float | None
    """The median time of a case, in seconds."""
    recovery: float | None

    @property
    def times(self) -> tuple[str, str]:
        """The medians in words."""
        case, recovery = ("not known" if each is None else format_seconds(each) for each in (self.case, self.recovery))
        return case, recovery


@frozen
class Past:
    """An engine through all of them."""

    word: str
    then: tuple[Then, ...]
    trends: tuple[Markup, Markup]


def history(folders: Sequence[Path]) -> tuple[Past, ...]:
    """Every engine that some of the campaigns ran, in the order in which the folders were given."""
    found: dict[str, list[Then]] = {}
    for folder in folders:
        for run in runs_in(folder):
            found.setdefault(run.word, []).append(_then(run))
    return tuple(
        Past(
            word,
            tuple(then),
            (
                draw_trend([each.case for each in then], "Median time of a case, from one campaign to the next"),
                draw_trend(
                    [each.recovery for each in then], "Median time of a recovery, from one campaign to the next"
                ),
            ),
        )
        for word, then in found.items()
    )


def _then(run: Run) -> Then:
    cases, recovered = [], []
    for judged in run.tally.judged.values():
        try:
            seen = run.results.observations(judged.id)
            case = run.results.case(judged.id) if seen is not None and seen.fired else None
        except ConformanceError:
            continue
        if seen is not None and seen.observations and (t := seen.observations[-1].t) is not None:
            cases.append(t)
        if seen is not None and case is not None:
            recovered += [lasted for _, lasted in recoveries(case, seen)]
    info = run.began.description.info
    return Then(
        version=f"{info.name} {info.version}",
        date=run.began.date,
        suite=run.began.suite,
        verdict=run.tally.verdict[0],
        broken=", ".join(each for each in GUARANTEES if run.tally.guarantee_verdict(each) == "violates") or "none",
        cases=len(run.tally.exercised),
        case=median(cases) if cases else None,
        recovery=median(recovered) if recovered else None,
    )
