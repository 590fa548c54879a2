"""Coverage: in how many of the cases that count each situation occurred, for each engine."""

from collections import Counter
from collections.abc import Mapping, Sequence

from attrs import frozen
from markupsafe import Markup

from conformance.case import Case
from conformance.generators import situations
from conformance.reports.campaigns import EngineCampaign
from conformance.reports.charts import draw_bar

GROUPS: dict[str, tuple[str, ...]] = {
    "Graphs": (
        "a chain",
        "several sources",
        "two inputs",
        "three inputs or more",
        "a source read by several",
        "a task's output read by several",
        "a diamond",
        "a diamond of unequal depth",
        "disjoint parts",
    ),
    "Failures": (
        "no failure",
        "a crash",
        "kill of a worker",
        "kill of a coordinator",
        "a restart",
        "a partition",
    ),
    "Where they happen": (
        "a failure in the first epoch",
        "a failure in the last epoch",
        "a crash at the first event",
        "a crash in the middle",
        "a crash at the border",
        "kill in processing",
        "kill in snapshot",
        "kill in commit",
        "kill in recovery",
    ),
    "Failure upon failure": ("two tasks in one epoch", "the same task again", "back to back"),
    "Timing": ("a slow branch of a diamond", "a late source"),
    "State": ("digest", "keyed_sum", "distinct", "batch", "average"),
    "Input": ("repeated values", "skew", "a source silent for an epoch", "an epoch empty everywhere", "reset"),
}
"""Every situation that `generators` names, by subject."""


@frozen
class CoverageBar:
    """The number of cases in which a situation occurred, for engines with the same number."""

    engines: str
    cases: int
    svg: Markup


@frozen
class SituationCoverage:
    """The coverage of one situation."""

    name: str
    bars: tuple[CoverageBar, ...]


def measure_coverage(
    campaigns: Sequence[EngineCampaign], cases: Mapping[str, Case]
) -> dict[str, tuple[SituationCoverage, ...]]:
    """Count the cases of each situation, by group."""
    occurring = {name: situations(case) for name, case in cases.items()}
    counts = {}
    for campaign in campaigns:
        names = [judged.id for judged in campaign.tally.exercised]
        occurrences = Counter(each for name in names for each in occurring.get(name, ()))
        counts[campaign.engine] = (occurrences, max(1, len(names)))
    return {
        group: tuple(SituationCoverage(name, _bars(name, counts)) for name in names) for group, names in GROUPS.items()
    }


def _bars(name: str, counts: Mapping[str, tuple[Counter[str], int]]) -> tuple[CoverageBar, ...]:
    engines: dict[tuple[int, int], list[str]] = {}
    for engine, (occurrences, total) in counts.items():
        engines.setdefault((occurrences[name], total), []).append(engine)
    return tuple(
        CoverageBar(", ".join(names), number, draw_bar(number / total)) for (number, total), names in engines.items()
    )
