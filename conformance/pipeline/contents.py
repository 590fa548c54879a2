"""Hashes that identify the inputs of a case in a dataset, one for each epoch of each source, computed by Spark."""

from typing import Any

from conformance.case import Case
from conformance.pipeline.segments import RECORDED, Rows


def input_hashes(rows: Rows, case: Case) -> dict[str, list[str]]:
    """
    Compute for each source the hash of each epoch: the SHA-256 of the list of its events as JSON.

    It equals `codec.cases.content` of the events. A value in the dataset is its event as JSON already.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark` may not be installed

    def listed(pairs: Any) -> Any:
        values = f.transform(f.array_sort(pairs), lambda pair: pair["value"])
        return f.concat(f.lit("["), f.concat_ws(",", values), f.lit("]"))

    pair = f.struct("seq", f.col("value").cast("string").alias("value"))
    events = f.collect_list(f.when(f.col("value").isNotNull(), pair))
    epochs = rows.frame.filter(f.col("origin") == RECORDED).groupBy("stream", "epoch")
    found = epochs.agg(f.sha2(listed(events).cast("binary"), 256).alias("hash")).collect()
    by_epoch = {(row.stream, row.epoch): row.hash for row in found}
    return {source: [by_epoch[source, epoch] for epoch in range(1, case.epochs + 1)] for source in case.graph.sources}
