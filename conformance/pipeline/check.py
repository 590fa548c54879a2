"""
`conformance check --on`: observations that are too large for one process.

Hash first, then judge only where needed. One pass makes a small table of all segments (`segments`); from it follow what
is no stream (`structure`), what was taken back, torn, or is not the recorded input (`standins`, in the judge's words);
and the last observation is explained in parallel (`parallel`).
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
from conformance.pipeline.contents import contents
from conformance.pipeline.dataset import OBSERVED, Kind, Opened, opened
from conformance.pipeline.dataset import RECORDED as RECORDED_COLUMNS
from conformance.pipeline.digest_view import SegmentIndex, gathered, stand_ins
from conformance.pipeline.parallel import Explanation, Parallel
from conformance.pipeline.segments import RECORDED, Rows
from conformance.pipeline.structure import Structure
from conformance.pipeline.writer import kind_of, table

MOST_GATHERED = 2_000_000
"""Rows that one process judges, where the question cannot be divided."""


def check(
    case_file: Path, observations_file: Path, master: str, *, seconds: float, tell: Callable[[str], None]
) -> Verdict:
    """The verdict; `tell` is told what is being done. Without a dataset there is nothing to start Spark for."""
    question = read(case_file, observations_file)
    if question.recorded or question.observed:
        cluster.check(master)
        question.sides()
        tell(f"starting Spark on {master}")
        with cluster.session(master) as spark:
            return question.answered(spark, seconds, tell)
    _fit(observations_file, question.seen, question.case, digest(question.case))
    return judge(question.case, question.seen, Budget(steps=10**12, seconds=seconds))


def read(case_file: Path, observations_file: Path) -> "CheckRequest":
    """Both files, without their datasets."""
    return CheckRequest(
        case_file, observations_file, *read_case_beside(case_file), *read_observations_beside(observations_file)
    )


@frozen
class CheckRequest:
    """A case and observations, and where their events stand, if not in the files themselves."""

    case_file: Path
    observations_file: Path
    case: Case
    recorded: Dataset | None
    seen: Observations
    observed: Dataset | None

    def sides(self) -> tuple[Any, Any]:
        """The recorded input and what was observed: each a dataset that can be read, or streams by observation."""
        recorded = _beside(self.case_file, self.recorded, RECORDED_COLUMNS)
        observed = _beside(self.observations_file, self.observed, OBSERVED)
        shown = {index: each.streams for index, each in enumerate(self.seen.observations)}
        return recorded or {RECORDED: self.case.inputs}, observed or shown

    def answered(self, spark: Any, seconds: float, tell: Callable[[str], None]) -> Verdict:
        """The verdict, on a Spark that is there."""
        case, seen = self.case, self.seen
        recorded, observed = self.sides()
        files = (_name(recorded, self.case_file), _name(observed, self.observations_file))
        frame, kind = _frame(spark, recorded, observed)
        rows = Rows(frame, kind, frozenset(case.graph.sources), seen.observed, len(seen.observations), files)
        whole = _read(rows, tell)
        whole.check_inputs(case)
        _fit(self.observations_file, seen, case, digest(case, contents(rows, case) if self.recorded else None))
        return _judged(whole, case, seen, seconds, tell)


def _judged(
    whole: SegmentIndex, case: Case, seen: Observations, seconds: float, tell: Callable[[str], None]
) -> Verdict:
    if seen.epochs == "own" or seen.snapshots == "unaligned":
        count = sum(each.rows for each in whole.summaries.values())
        if count > MOST_GATHERED:
            raise Unsupported(
                f"with epochs of the engine's own, or unaligned, all of it is one question for one process, which "
                f"takes {MOST_GATHERED:,} rows; there are {count:,}"
            )
        return judge(*gathered(whole, case, seen), Budget(steps=10**12, seconds=seconds))
    small_case, small = stand_ins(whole, case, seen)

    def proven(judged: Case, explanation: Explanation, *, complete: bool) -> Conforms:  # noqa: ARG001 - it is
        tell(f"{explanation.rows:,} rows explained and replayed, in {explanation.groups:,} groups")
        return Conforms(None, (), judged, explanation.epochs)

    return decide(small_case, small, Parallel(whole, small, seconds, tell), proven)


def _beside(file: Path, dataset: Dataset | None, columns: tuple[str, ...]) -> Opened | None:
    return None if dataset is None else opened(file.parent / dataset.name, columns)


def _name(side: Any, file: Path) -> str:
    return str(side.path) if isinstance(side, Opened) else str(file)


def _frame(spark: Any, recorded: Any, observed: Any) -> tuple[Any, Kind]:
    """All rows in one frame; integers, unless one side has text."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark` may not be installed

    kinds = {side.kind if isinstance(side, Opened) else kind_of(side) for side in (recorded, observed)}
    kind: Kind = "integers" if kinds == {"integers"} else "text"
    frames = []
    for side in (recorded, observed):
        rows = side.frame(spark) if isinstance(side, Opened) else spark.createDataFrame(table(side, kind))
        origin = f.col("observation") if "observation" in rows.columns else f.lit(RECORDED).cast("long")
        value = f.col("value").cast("long" if kind == "integers" else "string")
        frames.append(rows.select(origin.alias("origin"), "stream", "epoch", "seq", value.alias("value")))
    return frames[0].unionByName(frames[1]), kind


def _read(rows: Rows, tell: Callable[[str], None]) -> SegmentIndex:
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
    """The line of Spark's that names the file, or its first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return next((line for line in lines if "FAILED_READ_FILE" in line), lines[0])[:400]


def _fit(file: Path, seen: Observations, case: Case, key: str) -> None:
    try:
        seen.check_fit(case, key)
    except Malformed as refused:
        refused.file = str(file)
        raise
