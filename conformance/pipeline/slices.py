"""
Slices of a campaign that run on a cluster: cases run on an engine made of the model, and judged there.

The rows that come back hold what a local run would have given, case by case, and go into the same journal. They are
also written as Parquet, one file for each batch, so that a large campaign can be queried.
"""

import json
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeAlias

from conformance.adapters.serve import run_with_errors_as_answers
from conformance.campaign.batch_runner import PendingVerdict
from conformance.campaign.events import Outcome
from conformance.campaign.judging import RunVerdict, judge_outcome
from conformance.campaign.plan import request_of
from conformance.case import Case
from conformance.codec import decode_case, decode_observations, digest, encode_case, encode_observations, parse
from conformance.codec.typed import decode, encode
from conformance.observation import Observations
from conformance.registry import engine as engine_named

RequestedCase: TypeAlias = tuple[int, Any, bool]
"""The index of a case in its campaign, the case as JSON, and whether only its sinks are observed."""

SliceRow: TypeAlias = dict[str, Any]


def run_slice(name: str, deadline: float, part: Sequence[RequestedCase]) -> list[SliceRow]:
    """Run cases on an engine made of the model, and judge them. This function runs on the cluster."""
    engine = engine_named(name)
    description = engine.start()
    requests = []
    for index, case, sinks_only in part:
        request = request_of(decode_case(case), sinks_only=sinks_only, deadline=deadline)
        requests.append((index, description.with_required_streams(request)))
    cases = {index: request.case for index, request in requests}
    try:
        return [
            _row(index, cases[index], seen) for index, seen in run_with_errors_as_answers(engine, description, requests)
        ]
    finally:
        engine.stop()


def _row(index: int, case: Case, seen: Observations) -> SliceRow:
    counted_as, verdict = judge_outcome(case, seen)
    return {
        "index": index,
        "digest": digest(case),
        "outcome": counted_as,
        "case": _text(encode_case(case)),
        "observations": _text(encode_observations(seen)),
        "ruling": _text(encode(verdict)),
    }


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def result_of(row: SliceRow) -> PendingVerdict:
    """Return the result of a run from its row."""
    verdict: Future[tuple[Outcome, RunVerdict]] = Future()
    verdict.set_result((row["outcome"], decode(RunVerdict, parse(row["ruling"]))))
    return PendingVerdict(decode_observations(parse(row["observations"])), verdict)


def write_rows(folder: Path, first: int, rows: Sequence[SliceRow]) -> None:
    """Write the rows of a batch to a Parquet file, completely or not at all. `first` is the index of its first case."""
    import pyarrow as pa  # noqa: PLC0415 - it comes with the extra `spark`
    import pyarrow.parquet as pq  # noqa: PLC0415

    folder.mkdir(exist_ok=True)
    unfinished = folder / f".cases-{first:06}.parquet.part"
    pq.write_table(pa.Table.from_pylist(list(rows)), unfinished)
    unfinished.replace(folder / f"cases-{first:06}.parquet")
