"""
The program of a driver process: it runs streaming queries on commands from stdin, and answers on stdout.

    {"query": folder}   start the query of that folder; answers {"folder", "started"}, and {"folder", "ended": reason}
                        if the query ends by itself
    {"stop": folder}    stop the query; answers {"folder", "stopped"}

The driver is a separate process so that it can be killed.
"""

import json
import os
import socket
import sys
import threading
from pathlib import Path
from typing import Any

from conformance.adapters.spark.batch_progress import SINK_LOG
from conformance.adapters.spark.operators import ROW, STATE, make_operator
from conformance.adapters.spark.routing import FORWARD, RowRouting, route_cases
from conformance.adapters.spark.setup import FILE, FOREACH_BATCH, TRANSFORM
from conformance.adapters.spark.task_faults import DRIVER, TaskFaults
from conformance.codec import decode_case


def create_session(master: str, conf: dict[str, str]) -> Any:
    """Create a session that logs only errors."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - only a driver needs it

    builder = SparkSession.builder.master(master).appName("dataflow-conformance")
    for name, value in conf.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def start_query(spark: Any, folder: Path) -> Any:
    """Start the query of a folder, from its input and its checkpoint."""
    from pyspark.sql.functions import coalesce, lit  # noqa: PLC0415

    spec = json.loads((folder / "spec.json").read_text(encoding="utf-8"))
    routings = route_cases([(decode_case(each["case"]), frozenset(each["streams"])) for each in spec["cases"]])
    faults = [
        TaskFaults(str(folder), number, routing.case.failures, frozenset(each["external"]))
        for number, (routing, each) in enumerate(zip(routings, spec["cases"], strict=True))
    ]
    add_level = _transform_with_state if spec["operator"] == TRANSFORM else _apply_with_state
    rows = spark.readStream.schema(ROW).option("maxFilesPerTrigger", 1).json(str(folder / "in"))
    for level in range(1, routings[0].depth + 1):
        # The output of a Python operator cannot be shuffled (Spark 4.1: ClassCastException of a ColumnarBatchRow); a
        # projection that is not optimized away turns it into rows.
        rows = rows.withColumn("task", coalesce("task", lit(FORWARD)))
        rows = add_level(rows.groupBy("owner", "task"), level, routings, faults)
    output = rows.select("case", "stream", "epoch", "seq", "value").writeStream
    return (
        _with_sink(output, spec["sink"], folder)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(processingTime="0 seconds")
        .start()
    )


def _apply_with_state(groups: Any, level: int, routings: list[RowRouting], faults: list[TaskFaults]) -> Any:
    from pyspark.sql.streaming.state import GroupStateTimeout  # noqa: PLC0415

    operator = make_operator(level, routings, faults)
    return groups.applyInPandasWithState(operator, ROW, STATE, "append", GroupStateTimeout.NoTimeout)


def _transform_with_state(groups: Any, level: int, routings: list[RowRouting], faults: list[TaskFaults]) -> Any:
    from conformance.adapters.spark.stateful_processor import LevelProcessor  # noqa: PLC0415 - extends a class of Spark

    return groups.transformWithStateInPandas(LevelProcessor(level, routings, faults), ROW, "append", "none")


def _with_sink(output: Any, sink: str, folder: Path) -> Any:
    """
    Write the output to Spark's own file sink, or with a function as users write it for foreachBatch.

    One such function replaces the output of an earlier attempt at the micro-batch. The other one appends to it, which
    is wrong: its duplicates are there to be found.
    """
    out = str(folder / "out")
    if sink == FILE:
        return output.format("json").option("path", out)

    def write(rows: Any, batch: int) -> None:
        if sink == FOREACH_BATCH:
            rows.write.mode("overwrite").json(f"{out}/batch={batch}")
        else:
            rows.write.mode("append").json(out)
        (folder / SINK_LOG / str(batch)).touch()

    return output.foreachBatch(write)


class QueryRunner:
    """The queries of a driver, by their folders."""

    def __init__(self, spark: Any) -> None:
        self._spark = spark
        self._queries: dict[str, Any] = {}
        self._output_lock = threading.Lock()

    @property
    def processes(self) -> list[int]:
        """The processes of the driver: Spark's JVM and this one. It is dead when both are."""
        return [self._spark.sparkContext._gateway.proc.pid, os.getpid()]  # noqa: SLF001 - Spark has no public name for it

    def answer(self, **message: Any) -> None:
        """Write a message to stdout."""
        with self._output_lock:
            sys.stdout.write(json.dumps(message) + "\n")
            sys.stdout.flush()

    def start(self, folder: str) -> None:
        """Start a query, and report when it ends by itself."""
        driver = {"host": socket.gethostname(), "processes": self.processes}
        Path(folder, DRIVER).write_text(json.dumps(driver), encoding="utf-8")
        try:
            self._queries[folder] = query = start_query(self._spark, Path(folder))
        except Exception as error:  # noqa: BLE001 - any reason not to start is reported
            self.answer(folder=folder, ended=str(error)[:2000])
            return
        self.answer(folder=folder, started=True)

        def report_end() -> None:
            try:
                query.awaitTermination()
            except Exception as error:  # noqa: BLE001 - any end of a query is reported
                self.answer(folder=folder, ended=str(error)[:2000])

        threading.Thread(target=report_end, daemon=True).start()

    def stop(self, folder: str) -> None:
        """Stop a query."""
        if (query := self._queries.pop(folder, None)) is not None:
            query.stop()
        self.answer(folder=folder, stopped=True)


def main() -> None:
    """Run the command `driver.py MASTER CONFIGURATION`; the configuration is a JSON object."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    master, conf = sys.argv[1:]
    spark = create_session(master, json.loads(conf))
    runner = QueryRunner(spark)
    runner.answer(ready=spark.version, processes=runner.processes)
    for line in sys.stdin:
        command = json.loads(line)
        if "query" in command:
            runner.start(command["query"])
        else:
            runner.stop(command["stop"])
    spark.stop()


if __name__ == "__main__":
    main()
