"""
A certificate, made again from its folder.

Every file is there, unchanged, and no other is; every case is judged again from what was observed; and what follows
from the journal is what the certificate says. Whatever does not hold is named.
"""

from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from conformance.campaign.certificate import FORMAT, certificate, written
from conformance.campaign.events import Began, Event, Judged, Outcome
from conformance.campaign.executor import LocalExecutor
from conformance.campaign.journal import read_events
from conformance.campaign.judging import RunVerdict, outcome
from conformance.campaign.plan import plan_of, versions
from conformance.campaign.results import CASES, JOURNAL, OBSERVATIONS, Results, seen_beside
from conformance.campaign.tally import Tally
from conformance.codec import digest, read
from conformance.codec.strict import check_format, mapping
from conformance.errors import ConformanceError, Malformed


def read_certificate(path: Path) -> dict[str, Any]:
    """A certificate as JSON."""

    def decode(value: object) -> dict[str, Any]:
        check_format(value, FORMAT)
        found = mapping(value)
        if not isinstance(found.get("files"), dict):
            raise Malformed("no list of files", "the files that the certificate vouches for", path=("files",))
        return found

    return read(path, decode)


def verify(path: Path) -> Iterator[str]:
    """What is wrong with a certificate, line by line. Nothing, if nothing is."""
    said = read_certificate(path)
    results = Results(path.parent)
    yield from _files(said["files"], results)
    try:
        events = read_events(results.folder / JOURNAL)
    except ConformanceError as error:
        yield f"{JOURNAL}: {error}"
        return
    began = Tally.of(events).began
    if began is None:
        yield f"{JOURNAL}: it does not say how the campaign began"
        return
    yield from _strays(events, results)
    yield from _cases(began, events, results)
    yield from _plan(began, events)
    try:
        again = certificate(events, results)
    except (ConformanceError, OSError) as error:
        yield f"the certificate cannot be made again: {error}"
        return
    differing = [field for field in sorted(said.keys() | again.keys()) if said.get(field) != again.get(field)]
    for field in differing:
        if field != "files":
            yield f"{path.name}: {field} is not what follows from the journal"
    if not differing and path.read_bytes() != written(again).encode():
        yield f"{path.name}: it is not written as it was"


def _strays(events: list[Event], results: Results) -> Iterator[str]:
    """Every case and every observation is one that the journal tells of."""
    known = {
        f"{folder}/{each.id}.json" for each in Tally.of(events).judged.values() for folder in (CASES, OBSERVATIONS)
    }
    known |= {place for each in Tally.of(events).shrunk.values() for place in (each.file, seen_beside(each.file))}
    for place in results.files():
        if "/" in place and place not in known:
            yield f"{place}: the journal does not tell of it"


def _files(said: dict[str, Any], results: Results) -> Iterator[str]:
    there = results.digests()
    for place in sorted(said.keys() | there.keys()):
        if place not in there:
            yield f"{place}: missing"
        elif place not in said:
            yield f"{place}: added"
        elif there[place] != said[place]:
            yield f"{place}: altered"


def _plan(began: Began, events: list[Event]) -> Iterator[str]:
    """The cases are those of the seed. Only the versions that drew them can draw them again."""
    if (began.suite, began.hypothesis) != versions():
        return
    planned = {each.index: (each.id, digest(each.case)) for each in plan_of(began)}
    for judged in Tally.of(events).judged.values():
        if planned.get(judged.index) != (judged.id, judged.digest):
            yield f"{CASES}/{judged.id}.json: not what the seed gives for case {judged.index}"


def _cases(began: Began, events: list[Event], results: Results) -> Iterator[str]:
    """Every case once more: it is the one that was run, and what was seen of it is judged as the journal says."""
    executor = LocalExecutor()
    try:
        waiting: list[tuple[Judged, Future[tuple[Outcome, RunVerdict]]]] = []
        for judged in Tally.of(events).judged.values():
            try:
                case = results.case(judged.id)
                seen = results.observations(judged.id)
            except ConformanceError as error:
                yield str(error)
                continue
            if digest(case) != judged.digest:
                yield f"{CASES}/{judged.id}.json: not the case that was run"
            if seen is None and judged.outcome not in {"unsupported", "error"}:
                yield f"{OBSERVATIONS}/{judged.id}.json: missing, and the case is said to be {judged.outcome}"
            if seen is not None and seen.claims != began.description.claims:
                yield f"{OBSERVATIONS}/{judged.id}.json: not what the engine claimed to be"
            if seen is not None:
                waiting.append((judged, executor.submit(outcome, case, seen)))
        for judged, future in waiting:
            again, ruling = future.result()
            if (again, ruling.findings) != (judged.outcome, judged.findings):
                yield f"{OBSERVATIONS}/{judged.id}.json: judged again it is {again}, and was {judged.outcome}"
    finally:
        executor.close()
