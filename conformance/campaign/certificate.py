"""
The certificate: what a campaign says of an engine, made from its events and its files alone.

It holds no time but the day it was begun, so the same campaign gives the same certificate, interrupted or not.
"""

import json
import shlex
from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Any, get_args

from conformance.campaign.events import GUARANTEES, Event, Guarantee, Judged, Outcome, Shrunk
from conformance.campaign.plan import plan_of
from conformance.campaign.results import Results
from conformance.campaign.tally import Tally
from conformance.codec.typed import encode
from conformance.generators import SITUATIONS, situations

FORMAT = "conformance-certificate/1"

CONFIDENCE = 0.95
RULE_OF_THREE = 3
"""Nothing in n tries: with 95 % confidence it happens in fewer than 3/n."""


def certificate(events: Sequence[Event], results: Results) -> dict[str, Any]:
    """The certificate as JSON."""
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


def written(certified: dict[str, Any]) -> str:
    """A certificate as the text of its file."""
    return json.dumps(certified, indent=2, ensure_ascii=False) + "\n"


def _guarantee(tally: Tally, guarantee: Guarantee) -> dict[str, Any]:
    cases = [judged.id for judged in tally.violations(guarantee)]
    shrunk = tally.shrunk.get(guarantee)
    said: dict[str, Any] = {"verdict": tally.guarantee_verdict(guarantee), "violations": len(cases), "cases": cases}
    if shrunk is not None:
        said["counterexample"] = shrunk.file
    if guarantee == "atomic epochs" and tally.began and not tally.began.description.atomic:
        said["note"] = "The engine does not claim to commit its streams at one moment, so they may lag each other."
    return said


def meaning(tally: Tally) -> str:
    """
    What it means that nothing was found, if nothing was.

    Only drawn cases are a sample of anything, and those without a failure are none of recovery.
    """
    sample = [judged for judged in tally.exercised if judged.id.startswith("generated-") and judged.fired]
    if any(tally.broken(judged) for judged in tally.judged.values()) or not sample:
        return ""
    below = min(1.0, RULE_OF_THREE / len(sample))
    return (
        f"No violation in {len(sample)} generated cases with failures: "
        f"with {CONFIDENCE:.0%} confidence, below {below:.1%} of such cases violate."
    )


def epochs(exercised: Sequence[Judged]) -> dict[str, Any]:
    """
    How many epochs a run committed: an engine that puts everything into one shows little. And in how many of them, of
    those that had another behind them, two were in flight: where there never are, nothing is known of alignment. And,
    where snapshots hold messages in flight, in how many cases there were any to hold.
    """
    committed = [judged.epochs for judged in exercised] or [0]
    said: dict[str, Any] = {"least": min(committed), "median": median(committed), "most": max(committed)}
    told = [(judged.overlapped, max(judged.epochs - 1, 0)) for judged in exercised if judged.overlapped is not None]
    if told:
        said["two in flight"] = {"epochs": sum(both for both, _ in told), "of": sum(could for _, could in told)}
    held = [judged.in_flight for judged in exercised if judged.in_flight is not None]
    if held:
        said["saved in flight"] = {"cases": sum(map(bool, held)), "of": len(held), "bytes": sum(held)}
    return said


def _coverage(tally: Tally, results: Results) -> dict[str, int]:
    """In how many cases that count each situation occurred."""
    reached = Counter(situation for judged in tally.exercised for situation in situations(results.case(judged.id)))
    return {situation: reached[situation] for situation in SITUATIONS}


def reproduction(tally: Tally, shrunk: Shrunk, folder: str = "") -> str:
    """The command that shows a counterexample."""
    word = tally.began.engine if tally.began else "ENGINE"
    file = f"{folder}/{shrunk.file}" if folder else shrunk.file
    return shlex.join(["conformance", "run", file, word, *(["--sinks"] if shrunk.sinks_only else [])])


def _counterexample(tally: Tally, shrunk: Shrunk) -> dict[str, Any]:
    examined = tally.examined.get(shrunk.index)
    encoded: dict[str, Any] = encode(shrunk)
    return encoded | {
        "command": reproduction(tally, shrunk),
        "examined": encode(examined),
    }
