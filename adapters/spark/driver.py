"""
A Spark driver: a process that runs one query after the other, as it is told on stdin.

    {"query": folder}   start the query of that folder; answers {"started": folder}, and {"ended": why} if it ends
    {"stop": true}      stop it; answers {"stopped": folder}

It is a process of its own so that it can be killed.
"""

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from adapters.spark.layout import PASSED_ON, layouts
from adapters.spark.operators import DRIVER, ROW, STATE, operator
from conformance.codec import decode_case

SINK_LOG_COMPACTED = 1_000_000
"""Batches: never, so that each batch's files stand in an entry of their own."""

USUAL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.unsupportedOperationCheck": "false",
    "spark.sql.streaming.fileSink.log.compactInterval": str(SINK_LOG_COMPACTED),
    "spark.sql.streaming.minBatchesToRetain": "1000000",
    "spark.sql.streaming.metricsEnabled": "false",
}


def session(master: str, settings: dict[str, str]) -> Any:
    """A session on loopback, as quiet as it can be."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - only a driver needs it

    builder = SparkSession.builder.master(master).appName("dataflow-conformance")
    for name, value in (USUAL | settings).items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made


def start(spark: Any, folder: Path) -> Any:
    """The query of a folder: its cases, its input, its checkpoint."""
    from pyspark.sql.functions import coalesce, lit  # noqa: PLC0415
    from pyspark.sql.streaming.state import GroupStateTimeout  # noqa: PLC0415

    spec = json.loads((folder / "spec.json").read_text(encoding="utf-8"))
    batch = layouts([(decode_case(each["case"]), frozenset(each["streams"])) for each in spec])
    rows = spark.readStream.schema(ROW).option("maxFilesPerTrigger", 1).json(str(folder / "in"))
    for level in range(1, batch[0].depth + 1):
        # What comes out of a Python operator cannot go into a shuffle as it is (Spark 4.1: ClassCastException of a
        # ColumnarBatchRow); a projection that is not optimized away makes rows of it.
        rows = rows.withColumn("task", coalesce("task", lit(PASSED_ON)))
        rows = rows.groupBy("case", "task").applyInPandasWithState(
            operator(level, batch, str(folder)), ROW, STATE, "append", GroupStateTimeout.NoTimeout
        )
    return (
        rows.select("case", "stream", "epoch", "seq", "value")
        .writeStream.format("json")
        .option("path", str(folder / "out"))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(processingTime="0 seconds")
        .start()
    )


class Driver:
    """One query at a time."""

    def __init__(self, spark: Any) -> None:
        self._spark = spark
        self._query: Any = None
        self._saying = threading.Lock()

    def say(self, **message: Any) -> None:
        """Answer."""
        with self._saying:
            sys.stdout.write(json.dumps(message) + "\n")
            sys.stdout.flush()

    def run(self, folder: str) -> None:
        """Start a query, and tell when it ends."""
        Path(folder, DRIVER).write_text(str(os.getpgrp()), encoding="utf-8")
        self._query = query = start(self._spark, Path(folder))
        self.say(started=folder)

        def watch() -> None:
            try:
                query.awaitTermination()
            except Exception as error:  # noqa: BLE001 - whatever ends a query is told
                self.say(ended=str(error)[:2000])

        threading.Thread(target=watch, daemon=True).start()

    def stop(self) -> None:
        """Stop the query."""
        if self._query is not None:
            self._query.stop()
        self.say(stopped=True)


def main() -> None:
    """`driver.py MASTER SETTINGS`, settings as a JSON object."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    master, settings = sys.argv[1:]
    spark = session(master, json.loads(settings))
    driver = Driver(spark)
    driver.say(ready=spark.version)
    for line in sys.stdin:
        request = json.loads(line)
        if "query" in request:
            driver.run(request["query"])
        else:
            driver.stop()
    spark.stop()


if __name__ == "__main__":
    main()
