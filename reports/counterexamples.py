"""The counterexamples, worst first: what is broken, how, and the smallest case that shows it."""

import json
from collections.abc import Iterator, Sequence

from attrs import evolve, frozen
from markupsafe import Markup

from conformance.campaign.certificate import reproduction
from conformance.campaign.events import GUARANTEES, Guarantee, Shrunk, broken_by
from conformance.case import Case
from conformance.codec import digest, encode_case
from conformance.judge.verdict import delivery_guarantee
from conformance.observation import Observations
from conformance.reports.alignment import Row, aligned
from conformance.reports.graph import graph
from conformance.reports.labels import describe_failure, describe_hold
from conformance.reports.pictures import Picture, log_of, nearest, pictures
from conformance.reports.runs import Run
from conformance.reports.sanitize import format_events
from conformance.reports.summary import examination

WORST = ("none", "at-most-once", "at-least-once", "exactly-once up to order", "exactly-once")

LARGEST = 64_000
"""Characters of a case that are shown; a larger one has its file."""


@frozen
class Counterexample:
    """One broken guarantee of one engine."""

    anchor: str
    word: str
    guarantee: Guarantee
    diagnosis: str
    because: str
    left: str
    facts: tuple[str, ...]
    graph: Markup
    inputs: tuple[tuple[str, tuple[str, ...]], ...]
    failures: tuple[str, ...]
    holds: tuple[str, ...]
    pictures: tuple[Picture, ...]
    rows: tuple[Row, ...]
    command: str
    check: str
    file: str
    json: str


def counterexamples(runs: Sequence[Run]) -> tuple[Counterexample, ...]:
    """All of them, worst first: by what guarantee is left, then by how often the case fails, then by how many do."""
    found = [(run, shrunk) for run in runs for shrunk in run.tally.shrunk.values()]

    def order(each: tuple[Run, Shrunk]) -> tuple[int, float, int]:
        run, shrunk = each
        often = shrunk.rate.share
        return (
            WORST.index(delivery_guarantee(shrunk.findings)),
            -often,
            -sum(1 for _ in run.tally.violations(shrunk.guarantee)),
        )

    return tuple(_counterexample(*each, several=len(runs) > 1) for each in sorted(found, key=order))


def _counterexample(run: Run, shrunk: Shrunk, *, several: bool) -> Counterexample:
    case, seen = run.results.shrunk(shrunk.file)
    origin = run.tally.judged.get(shrunk.index)
    if seen is None and origin is not None and shrunk.digest == origin.digest:
        seen = run.results.observations(origin.id)
    mine = [each for each in shrunk.findings if broken_by(each) == shrunk.guarantee] or list(shrunk.findings)
    shown, rows = _shown(case, seen, evolve(shrunk, findings=tuple(mine)))
    folder = run.slug if several else ""
    file = f"{folder}/{shrunk.file}" if folder else shrunk.file
    text = json.dumps(encode_case(case), indent=1)
    return Counterexample(
        anchor=f"x-{run.slug}-{tuple(GUARANTEES).index(shrunk.guarantee)}",
        word=run.word,
        guarantee=shrunk.guarantee,
        diagnosis=mine[0].diagnosis,
        because=mine[0].because,
        left=delivery_guarantee(shrunk.findings),
        facts=tuple(_facts(run, shrunk)),
        graph=graph(case),
        inputs=tuple((source, tuple(map(format_events, case.inputs[source][:40]))) for source in case.graph.sources),
        failures=tuple(map(describe_failure, case.failures[:40])),
        holds=tuple(map(describe_hold, case.holds[:40])),
        pictures=shown,
        rows=rows,
        command=reproduction(run.tally, shrunk, folder),
        check=f"conformance check {file} {file.removesuffix('.json')}-observations.json" if seen is not None else "",
        file=file,
        json=text if len(text) <= LARGEST else "",
    )


def _shown(case: Case, seen: Observations | None, shrunk: Shrunk) -> tuple[tuple[Picture, ...], tuple[Row, ...]]:
    if seen is None or not seen.observations or seen.case != digest(case):
        return (), ()
    found = nearest(case, seen)
    rows = aligned(case, seen, shrunk.findings, found.shows) if found is not None else ()
    return pictures(case, seen, found, log_of(case, seen), conforms=False), rows


def _facts(run: Run, shrunk: Shrunk) -> Iterator[str]:
    violations = sum(1 for _ in run.tally.violations(shrunk.guarantee))
    yield f"Broken in {violations} of {len(run.tally.judged)} cases, first shrunk from {shrunk.id} ({shrunk.before})."
    yield f"The smallest case found ({shrunk.after}) fails in {shrunk.rate}."
    if (examined := run.tally.examined.get(shrunk.index)) is not None:
        yield from examination(examined)
