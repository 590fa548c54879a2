"""What identifies the inputs of a case in a dataset: a hash of each epoch of each source, made where the rows are."""

from typing import Any

from conformance.case import Case
from conformance.pipeline.segments import RECORDED, Rows


def contents(rows: Rows, case: Case) -> dict[str, list[str]]:
    """
    For each source the hash of each epoch, as `codec.cases.content` makes it of a list of events: the SHA-256 of the
    list as JSON. A value, as it stands in the dataset, is its event as JSON already.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark` may not be installed

    def listed(pairs: Any) -> Any:
        values = f.transform(f.array_sort(pairs), lambda pair: pair["value"])
        return f.concat(f.lit("["), f.concat_ws(",", values), f.lit("]"))

    pair = f.struct("seq", f.col("value").cast("string").alias("value"))
    events = f.collect_list(f.when(f.col("value").isNotNull(), pair))
    of = rows.frame.filter(f.col("origin") == RECORDED).groupBy("stream", "epoch")
    found = of.agg(f.sha2(listed(events).cast("binary"), 256).alias("hash")).collect()
    by_place = {(row.stream, row.epoch): row.hash for row in found}
    return {source: [by_place[source, epoch] for epoch in range(1, case.epochs + 1)] for source in case.graph.sources}
