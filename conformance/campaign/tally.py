"""The tally of a campaign: verdicts, guarantees and counts that follow from its events."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from attrs import define, field

from conformance.campaign.events import (
    GUARANTEES,
    STALLED,
    Began,
    CampaignEnded,
    CampaignEvent,
    Examined,
    GaveUp,
    Guarantee,
    Judged,
    Measured,
    Outcome,
    Shrunk,
    broken_by,
)
from conformance.campaign.plan import plan_of
from conformance.judge.verdict import DeliveryGuarantee, delivery_guarantee

EngineVerdict: TypeAlias = Literal["conforms", "violates", "inconclusive", "unsupported", "error"]

MAX_INCONCLUSIVE = 0.02
"""The share of cases without a verdict above which a campaign is inconclusive."""


@define
class Tally:
    """A fold over events. Add all of them in order."""

    began: Began | None = None
    judged: dict[int, Judged] = field(factory=dict)
    examined: dict[int, Examined] = field(factory=dict)
    shrunk: dict[Guarantee, Shrunk] = field(factory=dict)
    measured: Measured | None = None
    gave_up: GaveUp | None = None
    ended: bool = False

    @classmethod
    def of(cls, events: Iterable[CampaignEvent]) -> "Tally":
        """Return the tally of these events."""
        tally = cls()
        for event in events:
            tally.add(event)
        return tally

    def add(self, event: CampaignEvent) -> None:
        """Add an event."""
        match event:
            case Began():
                self.began = event
            case Judged():
                self.judged[event.index] = event
            case Examined():
                self.examined[event.index] = event
            case Shrunk():
                self.shrunk[event.guarantee] = event
            case Measured():
                self.measured = event
            case GaveUp():
                self.gave_up = event
            case CampaignEnded():
                self.ended = True

    def broken(self, judged: Judged) -> frozenset[Guarantee]:
        """
        Return the guarantees that a case breaks.

        A stall counts if it repeated with a long deadline. If one did, stalls that were not tried count, too.
        """
        examined = self.examined.get(judged.index)
        stall = examined is not None and (examined.stall or (examined.stall is None and self._stall_repeated))
        return frozenset(broken_by(each) for each in judged.findings if each.diagnosis != STALLED or stall)

    @property
    def _stall_repeated(self) -> bool:
        return any(examined.stall for examined in self.examined.values())

    def outcome(self, judged: Judged) -> Outcome:
        """Return what a case counts as: a stall that was not confirmed is no violation."""
        return "inconclusive" if judged.outcome == "violates" and not self.broken(judged) else judged.outcome

    def counts(self) -> Counter[Outcome]:
        """Count the cases by outcome."""
        return Counter(self.outcome(judged) for judged in self.judged.values())

    def violations(self, guarantee: Guarantee) -> Iterator[Judged]:
        """Return the cases that break this guarantee."""
        return (judged for judged in self.judged.values() if guarantee in self.broken(judged))

    @property
    def exercised(self) -> list[Judged]:
        """The cases that ran with all their failures and have a verdict."""
        return [each for each in self.judged.values() if self.outcome(each) in {"conforms", "violates"}]

    @property
    def why_inconclusive(self) -> tuple[EngineVerdict, str] | None:
        """The reason why a campaign without a violation proves nothing; None if it does prove something."""
        counts = self.counts()
        run = len(self.judged) - counts["unsupported"]
        unknown = counts["inconclusive"] + counts["error"] + counts["not exercised"]
        if self.gave_up is not None:
            return "error", f"The engine could not be run to the end: {self.gave_up.because}"
        if self.ended and self.began is not None and len(self.judged) < len(plan_of(self.began)):
            return "inconclusive", f"Only {len(self.judged)} of {len(plan_of(self.began))} cases were run."
        if not run:
            return "unsupported", "None of the cases is within what the engine supports."
        if unknown > MAX_INCONCLUSIVE * run:
            parts = ", ".join(f"{counts[o]} {o}" for o in ("inconclusive", "error", "not exercised") if counts[o])
            because = f"Of {run} cases {unknown} say nothing ({parts}): more than {MAX_INCONCLUSIVE:.0%}."
            return "inconclusive", because + self._too_short
        if not any(judged.fired for judged in self.exercised):
            return "inconclusive", "No failure ever fired, so nothing is known about recovery."
        return None

    @property
    def _too_short(self) -> str:
        """A hint to append if cases stalled within the deadline, and no stall repeated with a longer one."""
        stalled = sum(judged.outcome == "violates" and not self.broken(judged) for judged in self.judged.values())
        if not stalled or self.began is None:
            return ""
        return f" {stalled} did not end within --deadline {self.began.deadline:g}, which may be too short."

    @property
    def verdict(self) -> tuple[EngineVerdict, str]:
        """The verdict on the engine, and its reason."""
        if broken := [guarantee for guarantee in GUARANTEES if any(self.violations(guarantee))]:
            strongest = f"The strongest guarantee left is {self.delivery_guarantee}."
            return "violates", f"It breaks what it promises: {', '.join(broken)}. {strongest}"
        if unknown := self.why_inconclusive:
            return unknown
        return "conforms", f"All that was seen of {len(self.exercised)} cases is explained by failure-free executions."

    @property
    def delivery_guarantee(self) -> DeliveryGuarantee | None:
        """The strongest delivery guarantee that holds in all cases; None if the campaign proves nothing."""
        found = [
            finding
            for judged in self.judged.values()
            for finding in judged.findings
            if broken_by(finding) in self.broken(judged)
        ]
        return delivery_guarantee(tuple(found)) if found or self.why_inconclusive is None else None

    @property
    def places(self) -> dict[str, list[str]]:
        """The ids of the cases that ran in each place; empty for an engine that runs in one place only."""
        places: dict[str, list[str]] = {}
        for judged in self.judged.values():
            if judged.place:
                places.setdefault(judged.place, []).append(judged.id)
        return places

    def guarantee_verdict(self, guarantee: Guarantee) -> EngineVerdict:
        """Return the verdict on one guarantee."""
        if any(self.violations(guarantee)):
            return "violates"
        return self.why_inconclusive[0] if self.why_inconclusive else "conforms"
