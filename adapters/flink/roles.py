"""
The parts of a Flink cluster, each a Java process with a main class of its own, whether it is in a container or not.

A ZooKeeper, out of Flink's own jars, remembers which JobManager leads, and its jobs and checkpoints; so a new one takes
over where one that was killed left off.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

from conformance.adapters.flink.cluster import ANSWERS, write_conf

ZOOKEEPER, COORDINATOR, WORKER = "zookeeper", "coordinator", "worker"

MAIN = {
    ZOOKEEPER: "org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.server.ZooKeeperServerMain",
    COORDINATOR: "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint",
    WORKER: "org.apache.flink.runtime.taskexecutor.TaskManagerRunner",
}

HEAP = {ZOOKEEPER: 128, COORDINATOR: 512, WORKER: 640}
"""Megabytes."""

LIMIT = {ZOOKEEPER: 512, COORDINATOR: 1536, WORKER: 2048}
"""Megabytes that a container may take, with all that is not on Java's heap."""

SLOTS = 2
"""Of a worker. A job takes all slots of two workers, so it cannot go on without one of them."""

WORKERS = 2

QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Djava.net.preferIPv4Stack=true")
"""A part lives for minutes, in which compiling thoroughly does not pay."""

SETTINGS = {
    **ANSWERS,
    # Who is gone is noticed soon; who is slow, because the machine is, is not taken for gone.
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
    "taskmanager.numberOfTaskSlots": str(SLOTS),
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
class Layout:
    """Where the parts find things: all of it below one folder, which is at the same place for every part."""

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
        """What is not to outlive the parts."""
        return self.folder / "tmp"

    def prepare(self) -> None:
        """Write what the parts read."""
        host, _, port = self.zookeeper.rpartition(":")
        data, durable = self.folder / "zookeeper", self.folder / "ha"
        for each in (self.tmp, data, durable):
            each.mkdir()
        write_conf(
            self.conf,
            {
                **SETTINGS,
                "high-availability.zookeeper.quorum": self.zookeeper,
                "high-availability.storageDir": f"file://{durable}",
                "io.tmp.dirs": self.tmp,
                "web.tmpdir": self.tmp,
                **self.settings,
            },
        )
        bound = "0.0.0.0" if host not in {"127.0.0.1", "localhost"} else host  # noqa: S104 - within a private network
        lines = [f"dataDir={data}", f"clientPort={port}", f"clientPortAddress={bound}", "admin.enableServer=false"]
        (self.conf / "zoo.cfg").write_text("\n".join(lines) + "\n", encoding="utf-8")
        # What is said goes to stdout only, so that whoever has started a part has it.
        (self.conf / "log4j-console.properties").write_text(LOG, encoding="utf-8")

    def command(self, role: str, name: str, java: str, home: str, extra: Sequence[str] = ()) -> list[str]:
        """What starts a part; `home` is where PyFlink is."""
        opened = (self.conf / "config.yaml").read_text(encoding="utf-8").splitlines()[0].partition(": ")[2].split()
        options = [f"-Xmx{HEAP[role]}m", f"-Djava.io.tmpdir={self.tmp}", *QUICK]
        options += ["-Dsun.net.inetaddr.ttl=1", f"-Dlog4j.configurationFile=file:{self.conf}/log4j-console.properties"]
        command = [java, *options, *opened, "-cp", f"{home}/lib/*:{home}/opt/*", MAIN[role]]
        if role == ZOOKEEPER:
            return [*command, str(self.conf / "zoo.cfg")]
        given = [*extra, *([f"taskmanager.resource-id={name}"] if role == WORKER else [])]
        return [*command, "--configDir", str(self.conf), *(part for each in given for part in ("-D", each))]


LOG = """\
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
