"""
What happens in a campaign, as values. The journal, the terminal, the certificate and the reports are made of these.

Events hold no times: the same engine with the same seed gives the same events, interrupted or not.
"""

from typing import Literal, TypeAlias

from attrs import field, frozen

from conformance.codec.typed import json_name
from conformance.engine import Capabilities, Description
from conformance.errors import Malformed, quote
from conformance.judge.verdict import Diagnosis, Finding

Outcome: TypeAlias = Literal["conforms", "violates", "inconclusive", "not exercised", "unsupported", "error"]
Ruled: TypeAlias = Literal["conforms", "violates", "inconclusive"]
Guarantee: TypeAlias = Literal[
    "no loss", "no duplicates", "order", "state", "monotonic output", "atomic epochs", "liveness"
]

GUARANTEES: dict[Guarantee, tuple[Diagnosis, ...]] = {
    "no loss": ("lost",),
    "no duplicates": ("duplicated",),
    "order": ("reordered",),
    "state": ("corrupted state",),
    "monotonic output": ("retracted",),
    "atomic epochs": ("torn", "dirty", "misaligned"),
    "liveness": ("stalled",),
}
"""What an engine guarantees, and the diagnoses that break each guarantee."""

PROFILE_NAMES = ("quick", "standard", "deep")
MOST_CASES = 10**9

STALLED: Diagnosis = "stalled"


def broken_by(finding: Finding) -> Guarantee:
    """The guarantee that a finding breaks."""
    return next(guarantee for guarantee, diagnoses in GUARANTEES.items() if finding.diagnosis in diagnoses)


@frozen
class FailureRate:
    """In how many runs, of how many, it failed."""

    failed: int
    runs: int

    @property
    def share(self) -> float:
        """How often it failed, from 0 to 1."""
        return self.failed / max(1, self.runs)

    def __str__(self) -> str:
        return f"{self.failed} of {self.runs} runs"


@frozen
class CaseSize:
    """How large a case is."""

    tasks: int
    epochs: int
    events: int
    failures: int

    def __str__(self) -> str:
        parts = {"task": self.tasks, "epoch": self.epochs, "event": self.events, "failure": self.failures}
        return ", ".join(f"{number} {name}{'' if number == 1 else 's'}" for name, number in parts.items())


@frozen
class Began:
    """The campaign, and all that decides what it does."""

    engine: str
    description: Description
    capabilities: Capabilities
    """What the cases are made for: what this engine can do or, beside others, what all of them can."""
    profile: str
    cases: int
    seed: int
    deadline: float
    shrink_runs: int
    shrink_seconds: float
    suite: str
    hypothesis: str
    python: str
    system: str
    machine: str
    date: str

    def __attrs_post_init__(self) -> None:
        if (
            self.profile not in PROFILE_NAMES
            or not 0 <= self.cases <= MOST_CASES
            or not 0 < self.deadline < float("inf")
        ):
            raise Malformed(quote(self.profile), "a profile, a number of cases and a deadline that there are")
        if not self.engine.isprintable() or self.seed < 0:
            raise Malformed(quote(self.engine), "the name of an engine")


@frozen
class Judged:
    """One case has run, or could not be, and what follows from that."""

    index: int
    id: str
    digest: str
    outcome: Outcome
    because: str = ""
    sinks_only: bool = False
    epochs: int = 0
    """How many were committed."""
    fired: int = 0
    guarantee: str = ""
    findings: tuple[Finding, ...] = ()
    overlapped: int | None = None
    """In how many epochs the next one had begun before this one's snapshot was complete, if that is known."""
    in_flight: int | None = None
    """How many bytes of messages in flight its snapshots hold, if that is known."""


@frozen
class Examined:
    """A violation, looked at again: alone, with its sinks only, without its failures."""

    index: int
    alone: FailureRate
    sinks: Ruled
    without_failures: Outcome
    batch: FailureRate | None = None
    """Where it did not fail alone: the cases that ran with it, as one."""
    stall: bool | None = None
    """Whether a stall repeated, alone and with ten times the deadline. None if there was none, or it was not tried."""


@frozen
class Shrunk:
    """A counterexample: the smallest case found that breaks a guarantee, and how often it does."""

    guarantee: Guarantee = field(metadata=json_name("promise"))
    """Journals have its old name, so that those of earlier versions can be read."""
    index: int
    id: str
    file: str
    digest: str
    rate: FailureRate
    sinks_only: bool
    before: CaseSize
    after: CaseSize
    runs: int
    """How many runs of the engine it took to find it."""
    findings: tuple[Finding, ...]


@frozen
class GaveUp:
    """The engine could not be run any more."""

    because: str


@frozen
class Measured:
    """The sensitivity of this very campaign: which broken engines its first cases convict."""

    cases: int
    killed: int
    survived: tuple[str, ...]


@frozen
class CampaignEnded:
    """There is nothing left to do."""


Event: TypeAlias = Began | Judged | Examined | Shrunk | GaveUp | Measured | CampaignEnded
EVENTS: dict[str, type[Event]] = {
    "began": Began,
    "judged": Judged,
    "examined": Examined,
    "shrunk": Shrunk,
    "gaveup": GaveUp,
    "measured": Measured,
    "ended": CampaignEnded,
}
"""Events by their names in a journal."""

NAMES = {kind: name for name, kind in EVENTS.items()}
