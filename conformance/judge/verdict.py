"""The judge's verdicts: conforms with a witness, violates with evidence, or inconclusive with a reason."""

from typing import Literal, TypeAlias

from attrs import frozen

from conformance.case import Case
from conformance.model.configuration import Trace
from conformance.programs import Event

Diagnosis: TypeAlias = Literal[
    "lost",
    "duplicated",
    "reordered",
    "corrupted state",
    "retracted",
    "dirty",
    "torn",
    "misaligned",
    "stalled",
]

DeliveryGuarantee: TypeAlias = Literal[
    "none", "at-least-once", "at-most-once", "exactly-once up to order", "exactly-once"
]


QUOTED = 6
"""How many events a finding quotes, and a sentence lists."""


@frozen
class Conforms:
    """
    A failure-free trace that explains all observations, with the index at which it shows each.

    `case` is the case that the trace runs: the one that was judged or, if the engine places its own borders, that case
    with the engine's borders. A dataset is judged in pieces, each of which was replayed by the worker that explained
    it: then `witness` is None and `at` is empty.
    """

    witness: Trace | None
    at: tuple[int, ...]
    case: Case
    epochs: int


@frozen
class Finding:
    """One thing that no failure-free execution explains, in a user's words."""

    diagnosis: Diagnosis
    because: str
    observation: int | None = None
    stream: str | None = None
    epoch: int | None = None
    position: int | None = None
    expected: tuple[Event, ...] = ()
    observed: tuple[Event, ...] = ()


@frozen
class Violates:
    """Not explained by any failure-free execution. `guarantee` is the strongest that still holds."""

    guarantee: DeliveryGuarantee
    findings: tuple[Finding, ...]


@frozen
class Inconclusive:
    """No verdict: the search ran out of budget, or there was too little to judge."""

    because: str


Verdict: TypeAlias = Conforms | Violates | Inconclusive

_REPEATS = {"duplicated", "dirty", "retracted"}
_MISSES = {"lost", "stalled"}


def delivery_guarantee(findings: tuple[Finding, ...]) -> DeliveryGuarantee:
    """
    Derive the strongest guarantee that these findings leave.

    A reader of output as it comes may see again what was shown too early or taken back, so these leave at-least-once,
    as duplicates do. What is lost or never comes leaves at-most-once. What is all there, once, and in the wrong order,
    epoch or moment leaves exactly-once up to order. A corrupted state leaves nothing.
    """
    found = {finding.diagnosis for finding in findings}
    if not found:
        return "exactly-once"
    if "corrupted state" in found or (found & _REPEATS and found & _MISSES):
        return "none"
    if found & _REPEATS:
        return "at-least-once"
    return "at-most-once" if found & _MISSES else "exactly-once up to order"
