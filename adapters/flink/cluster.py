"""Clusters that run jobs: their interface, the client that submits jobs, and the cluster in the client's own JVM."""

import os
import shutil
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from conformance.adapters.flink.deployment import CaseDeployment
from conformance.adapters.flink.job import MORE, build_job
from conformance.adapters.flink.rest import LOOPBACK, RestClient
from conformance.adapters.flink.setup import FlinkSetup

REST_SETTINGS = {
    # REST answers with the current state, not with that of three seconds ago.
    "web.refresh-interval": "5",
    "rest.cache.checkpoint-statistics.timeout": "1 ms",
    # This one has to be in the configuration of a cluster; in that of a job it has no effect.
    "execution.checkpointing.num-retained": "100000",
}

MEMORY_SETTINGS = {
    "taskmanager.memory.managed.size": "256m",
    "taskmanager.memory.network.min": "256m",
    "taskmanager.memory.network.max": "256m",
}

EMBEDDED_SLOTS = 32
"""Slots of the cluster in the client's JVM."""

JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xms1g -Xmn640m"
"""
Jobs of a second or two end before Java's optimizing compiler, which takes a third of the processor, is of any use.
Nearly all of the memory that they allocate is garbage soon.
"""


class FlinkCluster(Protocol):
    """A cluster that runs jobs."""

    rest: RestClient
    python: str
    """The Python interpreter of its workers."""
    slot_groups: int
    """Slots that the operators of a job are spread over."""
    failures: tuple[str, ...]
    """The kinds of failure that can be injected."""

    def prepare(self, standbys: int) -> None:
        """Make the cluster ready for the next job, with that many workers more than the job needs."""
        ...

    def stop(self) -> None:
        """Stop the cluster."""
        ...


class JobClient:
    """Builds and submits jobs, with PyFlink and the JVM that it starts for itself."""

    def __init__(self, folder: Path, java: Mapping[str, str], options: str = "") -> None:
        self._folder = folder
        self._building = threading.Lock()
        conf, log, tmp = folder / "conf", folder / "log", folder / "gateway"
        # Java unpacks files, and does not remove them.
        write_conf(conf, {}, f"{options} -Djava.io.tmpdir={tmp} {JAVA_OPTIONS}")
        log.mkdir()
        tmp.mkdir()
        environment = {"FLINK_CONF_DIR": str(conf), "FLINK_LOG_DIR": str(log), "PYTHONPATH": python_path(), **java}
        os.environ.update(environment)
        from pyflink import java_gateway  # noqa: PLC0415 - it starts a JVM with the environment it finds

        launch = java_gateway.launch_gateway_server_process

        def launch_and_remember(*arguments: Any) -> Any:
            self._process = launch(*arguments)
            return self._process

        # PyFlink does not keep the process that it has started, and never ends it.
        java_gateway.launch_gateway_server_process = launch_and_remember
        try:
            self.gateway = java_gateway.get_gateway()
        finally:
            java_gateway.launch_gateway_server_process = launch
        from conformance.adapters.flink.names import cache_names  # noqa: PLC0415 - it needs py4j, which PyFlink brings

        cache_names(self.gateway)

    def submit(
        self,
        cluster: FlinkCluster,
        cases: Sequence[CaseDeployment],
        setup: FlinkSetup,
        restarts: int = 0,
        savepoint: Path | None = None,
    ) -> str:
        """Build a job that was restarted so often, submit it, from a savepoint if given, and return its id."""
        from pyflink.common import Configuration  # noqa: PLC0415
        from pyflink.datastream import StreamExecutionEnvironment  # noqa: PLC0415

        settings = {
            **setup.conf(cases[0].channel.folder),
            "python.executable": cluster.python,
            "python.client.executable": sys.executable,
        }
        if savepoint is not None:
            settings["execution.state-recovery.path"] = f"file://{savepoint}"
        with self._building:
            conf = Configuration()
            for name, value in settings.items():
                conf.set_string(name, value)
            jvm = self.gateway.jvm
            java_environment = jvm.org.apache.flink.streaming.api.environment.RemoteStreamEnvironment(
                cluster.rest.host,
                cluster.rest.port,
                conf._j_configuration,  # noqa: SLF001 - the public way to an environment starts a cluster of its own
                self.gateway.new_array(jvm.String, 0),
            )
            environment = StreamExecutionEnvironment(java_environment)
            environment.set_parallelism(1)
            # Each subtask of an operator takes a slot of the operator's slot sharing group.
            slot_groups = max(1, cluster.slot_groups // MORE) if setup.is_parallel else cluster.slot_groups
            build_job(environment, cases, setup, restarts, slot_groups)
        return str(environment.execute_async(self._folder.name).get_job_id())

    def stop(self) -> None:
        """Stop the JVM. The next client starts another one."""
        from pyflink import java_gateway  # noqa: PLC0415

        self.gateway.shutdown()
        java_gateway._gateway = None  # noqa: SLF001 - PyFlink would use it again
        self._process.kill()
        self._process.communicate()


def python_path() -> str:
    """Return our module search path for PYTHONPATH, because Python within a JVM does not know our environment."""
    return os.pathsep.join(str(Path(each).absolute()) for each in sys.path if each and Path(each).exists())


def write_conf(folder: Path, settings: Mapping[str, Any], options: str = "") -> None:
    """Write a folder of configuration: Flink's own, with these settings and Java options."""
    import pyflink  # noqa: PLC0415

    home = Path(pyflink.__file__).parent / "conf"
    shutil.copytree(home, folder)
    lines = (home / "config.yaml").read_text(encoding="utf-8").splitlines()
    java_options = next(line.split(":", 1)[1].strip() for line in lines if line.strip().startswith("all:"))
    lines = [
        f"env.java.opts.all: {java_options} {options}".rstrip(),
        *(f"{name}: {value}" for name, value in settings.items()),
    ]
    (folder / "config.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")


class MiniCluster:
    """Flink's MiniCluster, in the JVM that builds the jobs."""

    slot_groups = 1
    failures: tuple[str, ...] = ("crash", "restart")

    def __init__(self, client: JobClient) -> None:
        jvm = client.gateway.jvm
        conf = jvm.org.apache.flink.configuration.Configuration()
        for name, value in {
            **REST_SETTINGS,
            **MEMORY_SETTINGS,
            "rest.address": "localhost",
            "rest.bind-address": LOOPBACK,
            "rest.bind-port": "0",
        }.items():
            conf.setString(name, value)
        mini = jvm.org.apache.flink.runtime.minicluster
        builder = mini.MiniClusterConfiguration.Builder().setConfiguration(conf)
        self._cluster = mini.MiniCluster(
            builder.setNumTaskManagers(1).setNumSlotsPerTaskManager(EMBEDDED_SLOTS).build()
        )
        self._cluster.start()
        host, _, port = self._cluster.getRestAddress().get().getAuthority().partition(":")
        self.rest = RestClient(host, int(port))
        self.python = sys.executable

    def prepare(self, standbys: int) -> None:
        pass

    def stop(self) -> None:
        self._cluster.close()
