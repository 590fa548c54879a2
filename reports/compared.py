"""Several engines side by side: cases of which they show different things, with what the model shows."""

from collections.abc import Sequence

from attrs import frozen

from conformance.campaign.differential import Comparison, disagreements
from conformance.campaign.events import Outcome
from conformance.reports.runs import Run
from conformance.reports.sanitize import format_events

MOST = 200
"""Cases that are listed; comparison.json has them all."""


@frozen
class Shown:
    """What one engine shows there."""

    word: str
    outcome: Outcome
    events: str


@frozen
class Compared:
    """A case on which engines differ, and the first place where they do."""

    case: str
    comparison: Comparison
    stream: str
    epoch: int
    shown: tuple[Shown, ...]


@frozen
class SideBySide:
    """All of them: those in which somebody is wrong, and those in which engines differ as they may."""

    wrong: tuple[Compared, ...]
    allowed: tuple[Compared, ...]
    unknown: tuple[Compared, ...]
    cases: int
    apart: tuple[str, ...]
    """Engines with epochs of their own, which cannot be compared."""


def side_by_side(runs: Sequence[Run]) -> SideBySide | None:
    """Engines against each other; None where there is one."""
    if len(runs) < 2:  # noqa: PLR2004 - it takes two
        return None
    found: dict[Comparison, list[Compared]] = {"differing": [], "compatible": [], "inconclusive": []}
    for each in disagreements({run.word: (run.tally, run.results) for run in runs}):
        shown = tuple(
            Shown(word, each.outcomes[word], "not shown" if seen is None else format_events(seen))
            for word, seen in each.shown.items()
        )
        found[each.comparison].append(Compared(each.case, each.comparison, each.stream, each.epoch, shown))
    together = set.intersection(*(set(run.tally.judged) for run in runs))
    return SideBySide(
        tuple(found["differing"][:MOST]),
        tuple(found["compatible"][:MOST]),
        tuple(found["inconclusive"][:MOST]),
        len(together),
        tuple(run.word for run in runs if run.began.description.epochs == "own"),
    )
