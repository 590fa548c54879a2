"""
`conformance check --on`: the check of observations that are too large for one process.

Rows are hashed first, and judged only where needed. One pass makes a small table of all segments (`segments`). From it
follows what is no stream (`structure`), and what was retracted, torn, or is not the recorded input (`digest_view`, in
the judge's words). The last observation is explained in parallel (`parallel`).
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import frozen

from conformance.case import Case
from conformance.codec.cases import digest
from conformance.codec.datasets import Dataset, read_case_beside, read_observations_beside
from conformance.errors import Malformed, Unreadable, Unsupported
from conformance.judge import Budget, Conforms, Verdict, judge
from conformance.judge.judge import decide
from conformance.observation import Observations
from conformance.pipeline import cluster
from conformance.pipeline.contents import input_hashes
from conformance.pipeline.dataset import OBSERVED, Kind, OpenDataset, open_dataset
from conformance.pipeline.dataset import RECORDED as RECORDED_COLUMNS
from conformance.pipeline.digest_view import SegmentIndex, digest_view, full_view
from conformance.pipeline.parallel import Explanation, ParallelExplainer
from conformance.pipeline.segments import RECORDED, Rows
from conformance.pipeline.structure import Structure
from conformance.pipeline.writer import kind_of, table

MOST_ROWS = 2_000_000
"""The limit of rows that one process judges, if judging cannot be divided."""


def check(
    case_file: Path, observations_file: Path, master: str, *, seconds: float, tell: Callable[[str], None]
) -> Verdict:
    """Judge observations; `tell` gets progress messages. Without a dataset, Spark is not started."""
    request = read_request(case_file, observations_file)
    if request.recorded or request.observed:
        cluster.check(master)
        request.check_datasets()
        tell(f"starting Spark on {master}")
        with cluster.session(master) as spark:
            return request.judge(spark, seconds, tell)
    _check_fit(observations_file, request.seen, request.case, digest(request.case))
    return judge(request.case, request.seen, Budget.of_seconds(seconds))


def read_request(case_file: Path, observations_file: Path) -> "CheckRequest":
    """Read both files, without their datasets."""
    return CheckRequest(
        case_file, observations_file, *read_case_beside(case_file), *read_observations_beside(observations_file)
    )


@frozen
class CheckRequest:
    """A case and observations, and the datasets of their events, if these are not in the files themselves."""

    case_file: Path
    observations_file: Path
    case: Case
    recorded: Dataset | None
    seen: Observations
    observed: Dataset | None

    def check_datasets(self) -> None:
        """Refuse datasets that cannot be read, before Spark is started."""
        self._sides()

    def _sides(self) -> tuple[Any, Any]:
        """Return the recorded and the observed events: each a dataset that can be read, or streams by observation."""
        recorded = _beside(self.case_file, self.recorded, RECORDED_COLUMNS)
        observed = _beside(self.observations_file, self.observed, OBSERVED)
        shown = {index: each.streams for index, each in enumerate(self.seen.observations)}
        return recorded or {RECORDED: self.case.inputs}, observed or shown

    def judge(self, spark: Any, seconds: float, tell: Callable[[str], None]) -> Verdict:
        """Judge the observations in a Spark session."""
        case, seen = self.case, self.seen
        recorded, observed = self._sides()
        files = (_name(recorded, self.case_file), _name(observed, self.observations_file))
        frame, kind = _frame(spark, recorded, observed)
        rows = Rows(frame, kind, frozenset(case.graph.sources), seen.observed, len(seen.observations), files)
        index = _summarize(rows, tell)
        index.check_inputs(case)
        _check_fit(
            self.observations_file, seen, case, digest(case, input_hashes(rows, case) if self.recorded else None)
        )
        return _judge(index, case, seen, seconds, tell)


def _judge(index: SegmentIndex, case: Case, seen: Observations, seconds: float, tell: Callable[[str], None]) -> Verdict:
    if seen.epochs == "own" or seen.snapshots == "unaligned":
        count = sum(each.rows for each in index.summaries.values())
        if count > MOST_ROWS:
            raise Unsupported(
                f"observations with the engine's own epochs, or unaligned ones, are judged in one process, which "
                f"takes at most {MOST_ROWS:,} rows; these are {count:,}"
            )
        return judge(*full_view(index, case, seen), Budget.of_seconds(seconds))
    small_case, small_seen = digest_view(index, case, seen)

    def proven(judged: Case, explanation: Explanation, *, complete: bool) -> Conforms:  # noqa: ARG001 - the signature of `decide`
        tell(f"{explanation.rows:,} rows explained and replayed, in {explanation.groups:,} groups")
        return Conforms(None, (), judged, explanation.epochs)

    return decide(small_case, small_seen, ParallelExplainer(index, small_seen, seconds, tell), proven)


def _beside(file: Path, dataset: Dataset | None, columns: tuple[str, ...]) -> OpenDataset | None:
    return None if dataset is None else open_dataset(file.parent / dataset.name, columns)


def _name(side: Any, file: Path) -> str:
    return str(side.path) if isinstance(side, OpenDataset) else str(file)


def _frame(spark: Any, recorded: Any, observed: Any) -> tuple[Any, Kind]:
    """Return all rows in one frame, and the type of their values: integers, unless one side has text."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark` may not be installed

    kinds = {side.kind if isinstance(side, OpenDataset) else kind_of(side) for side in (recorded, observed)}
    kind: Kind = "integers" if kinds == {"integers"} else "text"
    frames = []
    for side in (recorded, observed):
        rows = side.frame(spark) if isinstance(side, OpenDataset) else spark.createDataFrame(table(side, kind))
        origin = f.col("observation") if "observation" in rows.columns else f.lit(RECORDED).cast("long")
        value = f.col("value").cast("long" if kind == "integers" else "string")
        frames.append(rows.select(origin.alias("origin"), "stream", "epoch", "seq", value.alias("value")))
    return frames[0].unionByName(frames[1]), kind


def _summarize(rows: Rows, tell: Callable[[str], None]) -> SegmentIndex:
    tell("reading, and hashing every segment")
    try:
        summaries = rows.summaries()
    except Exception as error:
        if not type(error).__module__.startswith(("py4j", "pyspark")):
            raise
        raise Unreadable(" or ".join(rows.files), f"Spark cannot read it ({_why(error)})", "Write it again.") from error
    tell(f"{sum(each.rows for each in summaries.values()):,} rows in {len(summaries):,} segments")
    return SegmentIndex(rows, summaries, Structure(rows, summaries).epochs())


def _why(error: Exception) -> str:
    """Return the line of Spark's message that names the file, or its first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return next((line for line in lines if "FAILED_READ_FILE" in line), lines[0])[:400]


def _check_fit(file: Path, seen: Observations, case: Case, key: str) -> None:
    try:
        seen.check_fit(case, key)
    except Malformed as refused:
        refused.file = str(file)
        raise
