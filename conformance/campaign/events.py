"""
The events of a campaign. The journal, the terminal, the certificate and the reports are made of them.

Events hold no times: the same engine with the same seed gives the same events, interrupted or not.
"""

from typing import Literal, Self, TypeAlias

from attrs import field, frozen

from conformance.case import Case
from conformance.codec.typed import json_name
from conformance.engine import Capabilities, Description
from conformance.errors import Malformed, quote
from conformance.judge.verdict import Diagnosis, Finding
from conformance.settings import PROFILE_NAMES

Outcome: TypeAlias = Literal["conforms", "violates", "inconclusive", "not exercised", "unsupported", "error"]
VerdictName: TypeAlias = Literal["conforms", "violates", "inconclusive"]
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
"""The guarantees of an engine, and the diagnoses that break each of them."""

MOST_CASES = 10**9

STALLED: Diagnosis = "stalled"


def broken_by(finding: Finding) -> Guarantee:
    """Return the guarantee that a finding breaks."""
    return next(guarantee for guarantee, diagnoses in GUARANTEES.items() if finding.diagnosis in diagnoses)


@frozen
class FailureRate:
    """The number of runs that failed, and of all runs."""

    failed: int
    runs: int

    @property
    def share(self) -> float:
        """The share of runs that failed, from 0 to 1."""
        return self.failed / max(1, self.runs)

    def __str__(self) -> str:
        return f"{self.failed} of {self.runs} runs"


@frozen
class CaseSize:
    """The size of a case."""

    tasks: int
    epochs: int
    events: int
    failures: int

    @classmethod
    def of(cls, case: Case) -> Self:
        """Measure a case."""
        events = sum(len(epoch) for epochs in case.inputs.values() for epoch in epochs)
        return cls(len(case.graph.tasks), case.epochs, events, len(case.failures))

    def __str__(self) -> str:
        parts = {"task": self.tasks, "epoch": self.epochs, "event": self.events, "failure": self.failures}
        return ", ".join(f"{number} {name}{'' if number == 1 else 's'}" for name, number in parts.items())


@frozen
class Began:
    """A campaign began, with everything that determines what it does."""

    engine: str
    description: Description
    capabilities: Capabilities
    """The capabilities that cases are generated for: of the engine or, if several are compared, common to all."""
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
            raise Malformed(quote(self.profile), "a profile that exists, a number of cases and a deadline in range")
        if not self.engine.isprintable() or self.seed < 0:
            raise Malformed(quote(self.engine), "the name of an engine")


@frozen
class Judged:
    """A case has run and was judged, or could not be run."""

    index: int
    id: str
    digest: str
    outcome: Outcome
    because: str = ""
    sinks_only: bool = False
    epochs: int = 0
    """The number of committed epochs."""
    fired: int = 0
    guarantee: str = ""
    findings: tuple[Finding, ...] = ()
    overlapped: int | None = None
    """The number of epochs whose successor began before their snapshot was complete, if known."""
    in_flight: int | None = None
    """The bytes of in-flight messages in its snapshots, if known."""
    place: str = ""
    """Where it ran, if the engine runs in several places."""


@frozen
class Examined:
    """A violation was examined: run again alone, judged on its sinks only, and run without its failures."""

    index: int
    alone: FailureRate
    sinks: VerdictName
    without_failures: Outcome | None
    """None if it was not run: it only stalls, and no stall has repeated."""
    batch: FailureRate | None = None
    """If it did not fail alone: the failure rate of all cases of its batch, merged into one."""
    stall: bool | None = None
    """Whether a stall repeated, alone and with a long deadline; None if there was none, or it was not tried."""


@frozen
class Shrunk:
    """A counterexample was found: the smallest known case that breaks a guarantee, and how often it does."""

    guarantee: Guarantee = field(metadata=json_name("promise"))
    """Journals use its former name, so that journals of earlier versions can be read."""
    index: int
    id: str
    file: str
    digest: str
    rate: FailureRate
    sinks_only: bool
    before: CaseSize
    after: CaseSize
    runs: int
    """The number of engine runs that it took to find it."""
    findings: tuple[Finding, ...]


@frozen
class GaveUp:
    """The campaign gave up: the engine cannot be run any more."""

    because: str


@frozen
class Measured:
    """The mutation score of this campaign was measured: the mutants that its first cases convict."""

    cases: int
    killed: int
    survived: tuple[str, ...]


@frozen
class CampaignEnded:
    """The campaign ended: nothing is left to do."""


CampaignEvent: TypeAlias = Began | Judged | Examined | Shrunk | GaveUp | Measured | CampaignEnded
EVENTS: dict[str, type[CampaignEvent]] = {
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
