"""
A Spark driver: a process that runs queries, as it is told on stdin.

    {"query": folder}   start the query of that folder; answers {"folder", "started"}, and {"folder", "ended": why} if
                        it ends by itself
    {"stop": folder}    stop it; answers {"folder", "stopped"}

It is a process of its own so that it can be killed.
"""

import json
import os
import socket
import sys
import threading
from pathlib import Path
from typing import Any

from conformance.adapters.spark.batch_progress import WRITTEN
from conformance.adapters.spark.layout import PASSED_ON, Layout, layouts
from conformance.adapters.spark.operators import DRIVER, ROW, STATE, Strikes, operator
from conformance.adapters.spark.setup import FILE, FOREACH_BATCH, TRANSFORM
from conformance.codec import decode_case


def session(master: str, conf: dict[str, str]) -> Any:
    """A session, as quiet as it can be."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - only a driver needs it

    builder = SparkSession.builder.master(master).appName("dataflow-conformance")
    for name, value in conf.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made


def start(spark: Any, folder: Path) -> Any:
    """The query of a folder: its cases, its input, its checkpoint."""
    from pyspark.sql.functions import coalesce, lit  # noqa: PLC0415

    spec = json.loads((folder / "spec.json").read_text(encoding="utf-8"))
    batch = layouts([(decode_case(each["case"]), frozenset(each["streams"])) for each in spec["cases"]])
    strikes = [
        Strikes(str(folder), number, layout.case.failures, frozenset(each["awaited"]))
        for number, (layout, each) in enumerate(zip(batch, spec["cases"], strict=True))
    ]
    level = _transforming if spec["operator"] == TRANSFORM else _applying
    rows = spark.readStream.schema(ROW).option("maxFilesPerTrigger", 1).json(str(folder / "in"))
    for depth in range(1, batch[0].depth + 1):
        # What comes out of a Python operator cannot go into a shuffle as it is (Spark 4.1: ClassCastException of a
        # ColumnarBatchRow); a projection that is not optimized away makes rows of it.
        rows = rows.withColumn("task", coalesce("task", lit(PASSED_ON)))
        rows = level(rows.groupBy("owner", "task"), depth, batch, strikes)
    written = rows.select("case", "stream", "epoch", "seq", "value").writeStream
    return (
        _sinking(written, spec["sink"], folder)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(processingTime="0 seconds")
        .start()
    )


def _applying(groups: Any, depth: int, batch: list[Layout], strikes: list[Strikes]) -> Any:
    from pyspark.sql.streaming.state import GroupStateTimeout  # noqa: PLC0415

    run = operator(depth, batch, strikes)
    return groups.applyInPandasWithState(run, ROW, STATE, "append", GroupStateTimeout.NoTimeout)


def _transforming(groups: Any, depth: int, batch: list[Layout], strikes: list[Strikes]) -> Any:
    from conformance.adapters.spark.processor import Processor  # noqa: PLC0415 - it is made of Spark's own class

    return groups.transformWithStateInPandas(Processor(depth, batch, strikes), ROW, "append", "none")


def _sinking(written: Any, sink: str, folder: Path) -> Any:
    """
    Where output goes: Spark's own file sink, or a function of ours that does what users' functions do.

    One of them replaces what an earlier attempt at the batch has written; the other one adds to it, as if there had
    been none. The latter is wrong, and here to be found out.
    """
    out = str(folder / "out")
    if sink == FILE:
        return written.format("json").option("path", out)

    def write(rows: Any, batch: int) -> None:
        if sink == FOREACH_BATCH:
            rows.write.mode("overwrite").json(f"{out}/batch={batch}")
        else:
            rows.write.mode("append").json(out)
        (folder / WRITTEN / str(batch)).touch()

    return written.foreachBatch(write)


class Driver:
    """Queries, by their folders."""

    def __init__(self, spark: Any) -> None:
        self._spark = spark
        self._queries: dict[str, Any] = {}
        self._saying = threading.Lock()

    @property
    def processes(self) -> list[int]:
        """What has to die for the driver to be dead: Spark's own, and this one."""
        return [self._spark.sparkContext._gateway.proc.pid, os.getpid()]  # noqa: SLF001 - there is no other way

    def say(self, **message: Any) -> None:
        """Answer."""
        with self._saying:
            sys.stdout.write(json.dumps(message) + "\n")
            sys.stdout.flush()

    def run(self, folder: str) -> None:
        """Start a query, and tell when it ends."""
        driver = {"host": socket.gethostname(), "processes": self.processes}
        Path(folder, DRIVER).write_text(json.dumps(driver), encoding="utf-8")
        try:
            self._queries[folder] = query = start(self._spark, Path(folder))
        except Exception as error:  # noqa: BLE001 - whatever keeps a query from starting is told
            self.say(folder=folder, ended=str(error)[:2000])
            return
        self.say(folder=folder, started=True)

        def watch() -> None:
            try:
                query.awaitTermination()
            except Exception as error:  # noqa: BLE001 - whatever ends a query is told
                self.say(folder=folder, ended=str(error)[:2000])

        threading.Thread(target=watch, daemon=True).start()

    def stop(self, folder: str) -> None:
        """Stop a query."""
        if (query := self._queries.pop(folder, None)) is not None:
            query.stop()
        self.say(folder=folder, stopped=True)


def main() -> None:
    """`driver.py MASTER CONFIGURATION`, the latter as a JSON object."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    master, conf = sys.argv[1:]
    spark = session(master, json.loads(conf))
    driver = Driver(spark)
    driver.say(ready=spark.version, processes=driver.processes)
    for line in sys.stdin:
        request = json.loads(line)
        if "query" in request:
            driver.run(request["query"])
        else:
            driver.stop(request["stop"])
    spark.stop()


if __name__ == "__main__":
    main()
