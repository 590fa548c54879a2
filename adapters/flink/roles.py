"""
Roles of the nodes of a Flink cluster: each is a Java process with its own main class, in a container or not.

A ZooKeeper, from Flink's own jars, stores which JobManager leads, and its jobs and checkpoints. So a new JobManager
continues where a killed one stopped.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

from conformance.adapters.flink.cluster import REST_SETTINGS, write_conf
from conformance.adapters.flink.rest import LOOPBACK

ZOOKEEPER, COORDINATOR, WORKER = "zookeeper", "coordinator", "worker"

MAIN = {
    ZOOKEEPER: "org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.server.ZooKeeperServerMain",
    COORDINATOR: "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint",
    WORKER: "org.apache.flink.runtime.taskexecutor.TaskManagerRunner",
}

HEAP = {ZOOKEEPER: 128, COORDINATOR: 512, WORKER: 640}
"""Megabytes of Java's heap."""

MEMORY_LIMIT = {ZOOKEEPER: 512, COORDINATOR: 1536, WORKER: 2048}
"""Megabytes that a container may use, on and off Java's heap."""

WORKER_SLOTS = 2
"""Slots of a worker. A job takes all slots of two workers, so it cannot run with one of them only."""

WORKERS = 2

JAVA_OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Djava.net.preferIPv4Stack=true")
"""A node lives for minutes, in which optimizing compilation does not pay."""

SETTINGS = {
    **REST_SETTINGS,
    # A dead node is noticed soon, and a node on a slow machine does not count as dead.
    "heartbeat.interval": "200",
    "heartbeat.timeout": "2000",
    "heartbeat.rpc-failure-threshold": "1",
    "cluster.registration.initial-timeout": "50",
    "cluster.registration.error-delay": "200",
    "high-availability.type": "zookeeper",
    "high-availability.cluster-id": "/one",
    "high-availability.zookeeper.client.session-timeout": "4000",
    "high-availability.zookeeper.client.connection-timeout": "4000",
    "high-availability.zookeeper.client.retry-wait": "200",
    "high-availability.zookeeper.client.max-retry-attempts": "100",
    "jobmanager.rpc.port": "0",
    "high-availability.jobmanager.port": "0",
    "blob.server.port": "0",
    "taskmanager.numberOfTaskSlots": str(WORKER_SLOTS),
    "taskmanager.cpu.cores": "1",
    "taskmanager.memory.framework.heap.size": "128m",
    "taskmanager.memory.task.heap.size": "512m",
    "taskmanager.memory.framework.off-heap.size": "128m",
    "taskmanager.memory.task.off-heap.size": "0",
    "taskmanager.memory.network.min": "64m",
    "taskmanager.memory.network.max": "64m",
    "taskmanager.memory.managed.size": "128m",
    "taskmanager.memory.jvm-metaspace.size": "256m",
    "taskmanager.memory.jvm-overhead.min": "192m",
    "taskmanager.memory.jvm-overhead.max": "192m",
}


@frozen
class ClusterLayout:
    """Files of a cluster, below one folder that has the same path for every node."""

    folder: Path
    zookeeper: str
    """Host and port."""
    settings: dict[str, Any] = field(factory=dict)

    @property
    def conf(self) -> Path:
        """The folder of configuration."""
        return self.folder / "cluster"

    @property
    def tmp(self) -> Path:
        """The folder of temporary files."""
        return self.folder / "tmp"

    def prepare(self) -> None:
        """Write the configuration."""
        host, _, port = self.zookeeper.rpartition(":")
        data, storage = self.folder / "zookeeper", self.folder / "ha"
        for each in (self.tmp, data, storage):
            each.mkdir()
        write_conf(
            self.conf,
            {
                **SETTINGS,
                "high-availability.zookeeper.quorum": self.zookeeper,
                "high-availability.storageDir": f"file://{storage}",
                "io.tmp.dirs": self.tmp,
                "web.tmpdir": self.tmp,
                **self.settings,
            },
        )
        bound = "0.0.0.0" if host not in {LOOPBACK, "localhost"} else host  # noqa: S104 - within a private network
        lines = [f"dataDir={data}", f"clientPort={port}", f"clientPortAddress={bound}", "admin.enableServer=false"]
        (self.conf / "zoo.cfg").write_text("\n".join(lines) + "\n", encoding="utf-8")
        # Nodes log to stdout only, which the process that starts a node collects.
        (self.conf / "log4j-console.properties").write_text(LOG4J, encoding="utf-8")

    def command(self, role: str, name: str, java: str, home: str, extra: Sequence[str] = ()) -> list[str]:
        """Return the command that starts a node; `home` is the folder of PyFlink."""
        first_line = (self.conf / "config.yaml").read_text(encoding="utf-8").splitlines()[0]
        options = [f"-Xmx{HEAP[role]}m", f"-Djava.io.tmpdir={self.tmp}", *JAVA_OPTIONS]
        options += ["-Dsun.net.inetaddr.ttl=1", f"-Dlog4j.configurationFile=file:{self.conf}/log4j-console.properties"]
        options += first_line.partition(": ")[2].split()
        command = [java, *options, "-cp", f"{home}/lib/*:{home}/opt/*", MAIN[role]]
        if role == ZOOKEEPER:
            return [*command, str(self.conf / "zoo.cfg")]
        settings = [*extra, *([f"taskmanager.resource-id={name}"] if role == WORKER else [])]
        return [*command, "--configDir", str(self.conf), *(word for each in settings for word in ("-D", each))]


LOG4J = """\
rootLogger.level = INFO
rootLogger.appenderRef.console.ref = Console
appender.console.name = Console
appender.console.type = CONSOLE
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss,SSS} %-5p %c{1} - %m%n
logger.curator.name = org.apache.flink.shaded.curator5
logger.curator.level = WARN
logger.zookeeper.name = org.apache.flink.shaded.zookeeper3
logger.zookeeper.level = WARN
"""
