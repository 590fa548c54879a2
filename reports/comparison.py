"""Cases on which engines differ, side by side: the first difference, and each engine's output and outcome there."""

from collections.abc import Sequence

from attrs import frozen

from conformance.campaign.differential import Comparison, disagreements
from conformance.campaign.events import Outcome
from conformance.reports.campaigns import EngineCampaign
from conformance.reports.sanitize import format_events

MAX_CASES = 200
"""Cases that are listed; comparison.json has them all."""


@frozen
class EngineOutput:
    """The events that one engine shows at the first difference."""

    engine: str
    outcome: Outcome
    events: str


@frozen
class DifferingCase:
    """A case on which engines differ, and the stream and epoch of the first difference."""

    case: str
    stream: str
    epoch: int
    outputs: tuple[EngineOutput, ...]


@frozen
class EngineComparison:
    """The cases on which engines differ: because one violates, as nondeterminism allows, or without all verdicts."""

    violating: tuple[DifferingCase, ...]
    allowed: tuple[DifferingCase, ...]
    undecided: tuple[DifferingCase, ...]
    cases: int
    """How many cases all engines ran."""
    excluded: tuple[str, ...]
    """Engines with epochs of their own, which cannot be compared."""


def compare_engines(campaigns: Sequence[EngineCampaign]) -> EngineComparison | None:
    """Compare the campaigns of several engines; None if there is only one."""
    if len(campaigns) < 2:  # noqa: PLR2004 - a comparison needs two
        return None
    differing: dict[Comparison, list[DifferingCase]] = {"differing": [], "compatible": [], "inconclusive": []}
    for found in disagreements({campaign.engine: (campaign.tally, campaign.results) for campaign in campaigns}):
        outputs = tuple(
            EngineOutput(engine, found.outcomes[engine], "not shown" if events is None else format_events(events))
            for engine, events in found.shown.items()
        )
        differing[found.comparison].append(DifferingCase(found.case, found.stream, found.epoch, outputs))
    return EngineComparison(
        violating=tuple(differing["differing"][:MAX_CASES]),
        allowed=tuple(differing["compatible"][:MAX_CASES]),
        undecided=tuple(differing["inconclusive"][:MAX_CASES]),
        cases=len(set.intersection(*(set(campaign.tally.judged) for campaign in campaigns))),
        excluded=tuple(each.engine for each in campaigns if each.began.description.epochs == "own"),
    )
