"""The settings of Spark that an engine's name selects, and the Spark configuration that they stand for."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from conformance.adapters.spark.master import ADDRESSES
from conformance.case import Case, Kill
from conformance.errors import UnknownEngine, did_you_mean

STARTUP = str(Path(__file__).parent / "startup")
"""The folder of a `sitecustomize` that makes Spark's Python workers start faster."""


def python_path(*folders: str) -> str:
    """Return PYTHONPATH for Spark's Python workers: `STARTUP`, these folders, and our own PYTHONPATH."""
    return os.pathsep.join(filter(None, [STARTUP, *folders, os.environ.get("PYTHONPATH")]))


RETRIED, ONCE = 1000, 1
"""How often Spark tries a task before the query fails."""

FILE, FOREACH_BATCH, FOREACH_APPEND = "file", "foreach-batch", "foreach-append"
LOCAL, LOCAL_CLUSTER = "local", "local-cluster"
BY_CASE = "by case"
"""The master of a Spark that runs each case on the fastest master on which its failures are possible."""

APPLY, TRANSFORM = "applyInPandasWithState", "transformWithState"

_STATE_PACKAGE = "org.apache.spark.sql.execution.streaming.state."

DEFAULT_CONF = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.unsupportedOperationCheck": "false",
    # Never compacted, so that each micro-batch has its own log entry.
    "spark.sql.streaming.fileSink.log.compactInterval": "1000000",
    "spark.sql.streaming.minBatchesToRetain": "1000000",
    "spark.sql.streaming.metricsEnabled": "false",
    # Spark's fallback where Hadoop's newer FileContext API is missing. Renaming is atomic in both on a local disk; the
    # newer one starts a process for each file, which takes a third of the time of a small micro-batch.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    # Faults kill executors often.
    "spark.deploy.maxExecutorRetries": "-1",
    "spark.executor.memory": "1g",
    # Limits for each driver on a shared cluster, so that several drivers fit.
    "spark.executor.cores": "1",
    "spark.cores.max": "2",
}

LOOPBACK = "127.0.0.1"

LOOPBACK_CONF = {"spark.driver.host": LOOPBACK, "spark.driver.bindAddress": LOOPBACK}
"""The configuration of a driver that no other machine has to reach."""


@frozen
class SparkSetup:
    """The sink, state store, operator and master; and how often Spark tries a task."""

    sink: str = FILE
    store: str = "hdfs"
    operator: str = APPLY
    attempts: int = RETRIED
    master: str = BY_CASE

    @property
    def masters(self) -> tuple[str, ...]:
        """The masters on which cases run."""
        return (LOCAL, LOCAL_CLUSTER) if self.master == BY_CASE else (self.master,)

    def master_of(self, case: Case) -> str:
        """Return the master of a case: a local master has no executor process that could be killed."""
        kills_worker = any(isinstance(each, Kill) and each.target == "worker" for each in case.failures)
        return self.masters[-1 if kills_worker else 0]

    def on(self, master: str) -> "SparkSetup":
        """Return the same setup on one master."""
        return evolve(self, master=master)

    @property
    def is_local(self) -> bool:
        """Whether tasks run within the driver, without executors."""
        return self.master == LOCAL

    @property
    def is_on_this_machine(self) -> bool:
        """Whether the driver and its executors run on this machine, so that the loopback interface is enough."""
        return not self.master.startswith("spark://") or self.master.startswith(("spark://127.", "spark://localhost:"))

    @property
    def settings(self) -> dict[str, Any]:
        """The settings as a certificate shows them."""
        return {
            "master": ", ".join(self.masters),
            "sink": self.sink,
            "state store": self.store,
            "operator": self.operator,
            "checkpoint files": "FileSystem",
            "attempts": "retried" if self.attempts == RETRIED else "one",
        }

    def master_for(self, attempts: int) -> str:
        """Return the master URL. A local master includes how often a task is tried."""
        return {LOCAL: f"local[2,{attempts}]", LOCAL_CLUSTER: "local-cluster[2,1,1024]"}.get(self.master, self.master)

    def conf(self, attempts: int) -> dict[str, str]:
        """Return the configuration of a session that tries a task so often."""
        provider = "RocksDBStateStoreProvider" if self.store == "rocksdb" else "HDFSBackedStateStoreProvider"
        return (
            DEFAULT_CONF
            | (LOOPBACK_CONF if self.is_on_this_machine else {})
            | {
                "spark.sql.streaming.stateStore.providerClass": _STATE_PACKAGE + provider,
                "spark.task.maxFailures": str(attempts),
                "spark.executorEnv.PYTHONPATH": python_path(),
            }
        )


SETTINGS: dict[str, tuple[str, Any]] = {
    "file": ("sink", FILE),
    "foreach-batch": ("sink", FOREACH_BATCH),
    "foreach-append": ("sink", FOREACH_APPEND),
    "hdfs": ("store", "hdfs"),
    "rocksdb": ("store", "rocksdb"),
    "transform-with-state": ("operator", TRANSFORM),
    "one-attempt": ("attempts", ONCE),
    "local": ("master", LOCAL),
    "local-cluster": ("master", LOCAL_CLUSTER),
}


def parse_settings(settings: Sequence[str]) -> SparkSetup:
    """Return the setup that these settings select. Unknown and contradictory settings are refused."""
    chosen: dict[str, str] = {}
    values: dict[str, Any] = {}
    for setting in settings:
        field, value = ("master", setting) if setting.startswith("spark://") else SETTINGS.get(setting, ("", None))
        if not field:
            known = f"{', '.join(SETTINGS)} and spark://HOST:PORT"
            raise UnknownEngine(f"spark has no setting {setting!r}; it has {known}{did_you_mean(setting, SETTINGS)}")
        if setting.startswith("spark://") and re.fullmatch(ADDRESSES, setting) is None:
            raise UnknownEngine(f"{setting!r} is no Spark master; give spark://HOST:PORT")
        if field in chosen:
            raise UnknownEngine(f"spark cannot be set up as {chosen[field]} and as {setting} at once")
        chosen[field], values[field] = setting, value
    setup = SparkSetup(**values)
    if setup.operator == TRANSFORM:
        if chosen.get("store") == "hdfs":
            raise UnknownEngine("spark's transform-with-state keeps its state in rocksdb only")
        setup = evolve(setup, store="rocksdb")
    return setup
