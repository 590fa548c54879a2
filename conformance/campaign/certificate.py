"""
The certificate: the result of a campaign, made from its events and its files alone.

It holds no time but the date on which the campaign began, so the same campaign gives the same certificate, interrupted
or not. `reports.folder.finish` writes it, after all other files of the results folder.
"""

import json
import shlex
from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Any, get_args

from conformance.campaign.events import GUARANTEES, CampaignEvent, Guarantee, Judged, Outcome, Shrunk
from conformance.campaign.plan import is_generated, plan_of
from conformance.campaign.results import Results
from conformance.campaign.tally import Tally
from conformance.codec.typed import encode
from conformance.generators import SITUATIONS, situations

FORMAT = "conformance-certificate/1"

CONFIDENCE = 0.95
RULE_OF_THREE = 3
"""An event that did not occur in n trials occurs, with 95 % confidence, in fewer than 3/n."""


def certificate(events: Sequence[CampaignEvent], results: Results) -> dict[str, Any]:
    """Make the certificate of a campaign, as JSON."""
    tally = Tally.of(events)
    began = tally.began
    assert began is not None  # noqa: S101 - a journal begins with it
    verdict, because = tally.verdict
    counts = tally.counts()
    described = encode(began.description)
    return {
        "format": FORMAT,
        "engine": described["info"],
        "word": began.engine,
        "claims": {claim: described[claim] for claim in ("epochs", "atomic", "snapshots")},
        "supports": encode(began.capabilities),
        "verdict": verdict,
        "because": because,
        "guarantee": tally.delivery_guarantee,
        "complete": tally.ended,
        "guarantees": {guarantee: _guarantee(tally, guarantee) for guarantee in GUARANTEES},
        "meaning": meaning(tally),
        "cases": {"planned": len(plan_of(began)), "judged": len(tally.judged)}
        | {outcome: counts[outcome] for outcome in get_args(Outcome)},
        "places": tally.places,
        "epochs": epochs(tally.exercised),
        "coverage": _coverage(tally, results),
        "sensitivity": encode(tally.measured),
        "counterexamples": [_counterexample(tally, shrunk) for shrunk in tally.shrunk.values()],
        "platform": {"system": began.system, "machine": began.machine, "python": began.python},
        "suite": {"version": began.suite, "hypothesis": began.hypothesis},
        "profile": began.profile,
        "seed": began.seed,
        "deadline": began.deadline,
        "date": began.date,
        "files": results.digests(),
    }


def format_certificate(certified: dict[str, Any]) -> str:
    """Return the text of a certificate file."""
    return json.dumps(certified, indent=2, ensure_ascii=False) + "\n"


def _guarantee(tally: Tally, guarantee: Guarantee) -> dict[str, Any]:
    cases = [judged.id for judged in tally.violations(guarantee)]
    shrunk = tally.shrunk.get(guarantee)
    entry: dict[str, Any] = {"verdict": tally.guarantee_verdict(guarantee), "violations": len(cases), "cases": cases}
    if shrunk is not None:
        entry["counterexample"] = shrunk.file
    if guarantee == "atomic epochs" and tally.began and not tally.began.description.atomic:
        entry["note"] = "The engine does not claim to commit its streams at one moment, so they may lag each other."
    return entry


def meaning(tally: Tally) -> str:
    """
    Say what it means that no violation was found; the empty string if one was.

    Only generated cases are a random sample, and only those with failures are a sample of recoveries.
    """
    sample = [judged for judged in tally.exercised if is_generated(judged.id) and judged.fired]
    if any(tally.broken(judged) for judged in tally.judged.values()) or not sample:
        return ""
    below = min(1.0, RULE_OF_THREE / len(sample))
    return (
        f"No violation in {len(sample)} generated cases with failures: "
        f"with {CONFIDENCE:.0%} confidence, below {below:.1%} of such cases violate."
    )


def epochs(exercised: Sequence[Judged]) -> dict[str, Any]:
    """
    Summarize the epochs that runs committed.

    An engine that puts all events into one epoch shows little. If two epochs were never in flight together, nothing is
    known about alignment: `two in flight` counts the epochs that overlapped, of those that had a successor. `saved in
    flight` counts the cases whose snapshots held in-flight messages.
    """
    committed = [judged.epochs for judged in exercised] or [0]
    summary: dict[str, Any] = {"least": min(committed), "median": median(committed), "most": max(committed)}
    overlaps = [(judged.overlapped, max(judged.epochs - 1, 0)) for judged in exercised if judged.overlapped is not None]
    if overlaps:
        summary["two in flight"] = {
            "epochs": sum(count for count, _ in overlaps),
            "of": sum(most for _, most in overlaps),
        }
    held = [judged.in_flight for judged in exercised if judged.in_flight is not None]
    if held:
        summary["saved in flight"] = {"cases": sum(map(bool, held)), "of": len(held), "bytes": sum(held)}
    return summary


def _coverage(tally: Tally, results: Results) -> dict[str, int]:
    """Count the exercised cases in which each situation occurred."""
    reached = Counter(situation for judged in tally.exercised for situation in situations(results.case(judged.id)))
    return {situation: reached[situation] for situation in SITUATIONS}


def reproduction(tally: Tally, shrunk: Shrunk, folder: str = "") -> str:
    """Return the command that reproduces a counterexample."""
    engine_name = tally.began.engine if tally.began else "ENGINE"
    file = f"{folder}/{shrunk.file}" if folder else shrunk.file
    return shlex.join(["conformance", "run", file, engine_name, *(["--sinks"] if shrunk.sinks_only else [])])


def _counterexample(tally: Tally, shrunk: Shrunk) -> dict[str, Any]:
    examined = tally.examined.get(shrunk.index)
    encoded: dict[str, Any] = encode(shrunk)
    return encoded | {
        "command": reproduction(tally, shrunk),
        "examined": encode(examined),
    }
