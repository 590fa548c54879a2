"""
Verification of a certificate: it is recomputed from its folder.

Every file is there, unchanged, and there is no other. Every case is judged again from its observations. The certificate
says what follows from the journal. Each of these that does not hold is named.
"""

from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from conformance.campaign.certificate import FORMAT, certificate, format_certificate
from conformance.campaign.events import Began, CampaignEvent, Judged, Outcome
from conformance.campaign.executor import LocalExecutor
from conformance.campaign.journal import read_events
from conformance.campaign.judging import RunVerdict, judge_outcome
from conformance.campaign.plan import plan_of, versions
from conformance.campaign.results import CASES, JOURNAL, OBSERVATIONS, Results, observations_of
from conformance.campaign.tally import Tally
from conformance.codec import digest, read
from conformance.codec.strict import check_format, mapping
from conformance.errors import ConformanceError, Malformed


def read_certificate(path: Path) -> dict[str, Any]:
    """Read a certificate as JSON."""

    def decode(value: object) -> dict[str, Any]:
        check_format(value, FORMAT)
        found = mapping(value)
        if not isinstance(found.get("files"), dict):
            raise Malformed("no list of files", "the files that the certificate vouches for", path=("files",))
        return found

    return read(path, decode)


def verify(path: Path) -> Iterator[str]:
    """Yield each problem of a certificate as a line; none if it is right."""
    said = read_certificate(path)
    results = Results(path.parent)
    yield from _compare_files(said["files"], results)
    try:
        events = read_events(results.folder / JOURNAL)
    except ConformanceError as error:
        yield f"{JOURNAL}: {error}"
        return
    began = Tally.of(events).began
    if began is None:
        yield f"{JOURNAL}: it does not say how the campaign began"
        return
    yield from _unknown_files(events, results)
    yield from _judge_again(began, events, results)
    yield from _compare_with_plan(began, events)
    try:
        recomputed = certificate(events, results)
    except (ConformanceError, OSError) as error:
        yield f"the certificate cannot be recomputed: {error}"
        return
    differing = [field for field in sorted(said.keys() | recomputed.keys()) if said.get(field) != recomputed.get(field)]
    for field in differing:
        if field != "files":
            yield f"{path.name}: {field} is not what follows from the journal"
    if not differing and path.read_bytes() != format_certificate(recomputed).encode():
        yield f"{path.name}: its layout was changed"


def _unknown_files(events: list[CampaignEvent], results: Results) -> Iterator[str]:
    """Name the files in folders that the journal does not mention."""
    known = {
        f"{folder}/{each.id}.json" for each in Tally.of(events).judged.values() for folder in (CASES, OBSERVATIONS)
    }
    known |= {file for each in Tally.of(events).shrunk.values() for file in (each.file, observations_of(each.file))}
    for file in results.files():
        if "/" in file and file not in known:
            yield f"{file}: the journal does not mention it"


def _compare_files(said: dict[str, Any], results: Results) -> Iterator[str]:
    found = results.digests()
    for file in sorted(said.keys() | found.keys()):
        if file not in found:
            yield f"{file}: missing"
        elif file not in said:
            yield f"{file}: added"
        elif found[file] != said[file]:
            yield f"{file}: altered"


def _compare_with_plan(began: Began, events: list[CampaignEvent]) -> Iterator[str]:
    """Name the cases that are not those of the seed. Only the versions that drew them can draw them again."""
    if (began.suite, began.hypothesis) != versions():
        return
    planned = {each.index: (each.id, digest(each.case)) for each in plan_of(began)}
    for judged in Tally.of(events).judged.values():
        if planned.get(judged.index) != (judged.id, judged.digest):
            yield f"{CASES}/{judged.id}.json: not what the seed gives for case {judged.index}"


def _judge_again(began: Began, events: list[CampaignEvent], results: Results) -> Iterator[str]:
    """Name the cases that are not those that were run, or whose observations are judged differently."""
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
            if seen is not None and (seen.place or "") != judged.place:
                yield f"{OBSERVATIONS}/{judged.id}.json: it ran in another place than the journal says"
            if seen is not None:
                waiting.append((judged, executor.submit(judge_outcome, case, seen)))
        for judged, future in waiting:
            new_outcome, verdict = future.result()
            if (new_outcome, verdict.findings) != (judged.outcome, judged.findings):
                yield f"{OBSERVATIONS}/{judged.id}.json: judged again it is {new_outcome}, and was {judged.outcome}"
    finally:
        executor.close()
