"""What a campaign reached: in how many of the cases that count each situation occurred."""

from collections import Counter
from collections.abc import Mapping, Sequence

from attrs import frozen
from markupsafe import Markup

from conformance.case import Case
from conformance.generators import situations
from conformance.reports.charts import draw_bar
from conformance.reports.runs import Run

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
    "Where they strike": (
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
"""Every situation, by what it is about."""


@frozen
class Bar:
    """In how many cases a situation occurred, of how many that count: for engines for which that is the same."""

    words: str
    number: int
    drawn: Markup


@frozen
class Reached:
    """A situation, for each engine."""

    name: str
    bars: tuple[Bar, ...]


def coverage(runs: Sequence[Run], cases: Mapping[str, Case]) -> dict[str, tuple[Reached, ...]]:
    """All situations, by group."""
    occurring = {name: situations(case) for name, case in cases.items()}
    counted = {run.word: [judged.id for judged in run.tally.exercised] for run in runs}
    reached = {
        word: (Counter(each for name in names for each in occurring.get(name, ())), max(1, len(names)))
        for word, names in counted.items()
    }
    return {group: tuple(Reached(name, _bars(name, reached)) for name in names) for group, names in GROUPS.items()}


def _bars(name: str, reached: Mapping[str, tuple[Counter[str], int]]) -> tuple[Bar, ...]:
    alike: dict[tuple[int, int], list[str]] = {}
    for word, (counts, cases) in reached.items():
        alike.setdefault((counts[name], cases), []).append(word)
    return tuple(Bar(", ".join(words), number, draw_bar(number / cases)) for (number, cases), words in alike.items())
