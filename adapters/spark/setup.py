"""How Spark is set up: what the settings behind its name mean, each an engine of its own in the matrix."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from conformance.errors import UnknownEngine

STARTUP = str(Path(__file__).parent / "startup")
"""What makes Spark's Python workers start faster."""


def python_path(*more: str) -> str:
    """Where Spark's Python workers look: at what makes them fast, at `more`, and where we were told to."""
    return os.pathsep.join(filter(None, [STARTUP, *more, os.environ.get("PYTHONPATH")]))


RETRIED, ONCE = 1000, 1
"""How often a task may be tried before the query dies of it."""

FILE, FOREACH_BATCH, FOREACH_APPEND = "file", "foreach-batch", "foreach-append"
APPLY, TRANSFORM = "applyInPandasWithState", "transformWithState"

_STORES = "org.apache.spark.sql.execution.streaming.state."

USUAL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.unsupportedOperationCheck": "false",
    # Never, so that each batch's files stand in an entry of their own.
    "spark.sql.streaming.fileSink.log.compactInterval": "1000000",
    "spark.sql.streaming.minBatchesToRetain": "1000000",
    "spark.sql.streaming.metricsEnabled": "false",
    # What Spark uses where Hadoop's newer API does not reach. Renaming is atomic in both on a local disk; the newer one
    # starts a process for each file, which is a third of the time of a small batch.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    # Executors are killed on purpose, and often.
    "spark.deploy.maxExecutorRetries": "-1",
    "spark.executor.memory": "1g",
    # Of somebody else's cluster each driver takes no more than this, so that several find room.
    "spark.executor.cores": "1",
    "spark.cores.max": "2",
}

LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


@frozen
class Setup:
    """Which sink, state store, operator and master; and how often a task is tried."""

    sink: str = FILE
    store: str = "hdfs"
    operator: str = APPLY
    attempts: int = RETRIED
    master: str = "local"

    @property
    def is_local(self) -> bool:
        """Whether tasks run within the driver, so that there are no executors to kill."""
        return self.master == "local"

    @property
    def is_here(self) -> bool:
        """Whether all of it is on this machine, so that nothing has to listen beyond it."""
        return not self.master.startswith("spark://") or self.master.startswith(("spark://127.", "spark://localhost:"))

    @property
    def settings(self) -> dict[str, Any]:
        """What a reader of a certificate wants to know."""
        return {
            "master": self.master,
            "sink": self.sink,
            "state store": self.store,
            "operator": self.operator,
            "checkpoint files": "FileSystem",
            "attempts": "retried" if self.attempts == RETRIED else "one",
        }

    def master_for(self, attempts: int) -> str:
        """The master as Spark names it. Locally it is there that it says how often a task is tried."""
        return {"local": f"local[2,{attempts}]", "local-cluster": "local-cluster[2,1,1024]"}.get(
            self.master, self.master
        )

    def conf(self, attempts: int) -> dict[str, str]:
        """A session's configuration."""
        provider = "RocksDBStateStoreProvider" if self.store == "rocksdb" else "HDFSBackedStateStoreProvider"
        return (
            USUAL
            | (LOOPBACK if self.is_here else {})
            | {
                "spark.sql.streaming.stateStore.providerClass": _STORES + provider,
                "spark.task.maxFailures": str(attempts),
                "spark.executorEnv.PYTHONPATH": python_path(),
            }
        )


WORDS: dict[str, tuple[str, Any]] = {
    "file": ("sink", FILE),
    "foreach-batch": ("sink", FOREACH_BATCH),
    "foreach-append": ("sink", FOREACH_APPEND),
    "hdfs": ("store", "hdfs"),
    "rocksdb": ("store", "rocksdb"),
    "transform-with-state": ("operator", TRANSFORM),
    "one-attempt": ("attempts", ONCE),
    "local": ("master", "local"),
    "local-cluster": ("master", "local-cluster"),
}


def set_up(words: Sequence[str]) -> Setup:
    """What these settings come to. Whatever is unknown, or said twice, is refused."""
    said: dict[str, str] = {}
    values: dict[str, Any] = {}
    for word in words:
        field, value = ("master", word) if word.startswith("spark://") else WORDS.get(word, ("", None))
        if not field:
            raise UnknownEngine(f"spark has no setting {word!r}; it has {', '.join(WORDS)} and spark://HOST:PORT")
        if field in said:
            raise UnknownEngine(f"spark cannot be set up as {said[field]} and as {word} at once")
        said[field], values[field] = word, value
    made = Setup(**values)
    if made.operator == TRANSFORM:
        if said.get("store") == "hdfs":
            raise UnknownEngine("spark's transform-with-state keeps its state in rocksdb only")
        made = evolve(made, store="rocksdb")
    return made
