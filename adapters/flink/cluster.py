"""A Flink to run jobs on: what all places have in common, and the one within the process that builds the jobs."""

import os
import shutil
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from conformance.adapters.flink.job import MORE, Placed, build
from conformance.adapters.flink.rest import Rest
from conformance.adapters.flink.setup import Setup

ANSWERS = {
    # What REST says is of now, not of three seconds ago.
    "web.refresh-interval": "5",
    "rest.cache.checkpoint-statistics.timeout": "1 ms",
    # Only a cluster's own configuration counts here, not a job's.
    "execution.checkpointing.num-retained": "100000",
}

MEMORY = {
    "taskmanager.memory.managed.size": "256m",
    "taskmanager.memory.network.min": "256m",
    "taskmanager.memory.network.max": "256m",
}

SLOTS = 32

SHORT_JOBS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xms1g -Xmn640m"
"""
Jobs of a second or two are over before the better of Java's compilers, which takes a third of the processor, has been
of any use, and what they leave behind is garbage nearly all of it.
"""


class Cluster(Protocol):
    """Where jobs run."""

    rest: Rest
    python: str
    groups: int
    """Slots that the operators of a job are spread over."""
    failures: tuple[str, ...]
    """What can be made to happen there."""

    def settle(self, standbys: int) -> None:
        """Be ready for the next job, with so many workers more than it needs."""
        ...

    def stop(self) -> None:
        """End it."""
        ...


class Client:
    """What builds jobs: PyFlink, and the JVM that it starts for itself."""

    def __init__(self, folder: Path, java: Mapping[str, str], options: str = "") -> None:
        self._folder = folder
        self._building = threading.Lock()
        conf, log, tmp = folder / "conf", folder / "log", folder / "gateway"
        # What Java unpacks for itself, it would leave behind elsewhere.
        write_conf(conf, {}, f"{options} -Djava.io.tmpdir={tmp} {SHORT_JOBS}")
        log.mkdir()
        tmp.mkdir()
        given = {"FLINK_CONF_DIR": str(conf), "FLINK_LOG_DIR": str(log), "PYTHONPATH": python_path(), **java}
        os.environ.update(given)
        from pyflink import java_gateway  # noqa: PLC0415 - it starts a JVM with the environment it finds

        launch = java_gateway.launch_gateway_server_process

        def launched(*arguments: Any) -> Any:
            self._process = launch(*arguments)
            return self._process

        # PyFlink forgets the process it has started, and never ends it.
        java_gateway.launch_gateway_server_process = launched
        try:
            self.gateway = java_gateway.get_gateway()
        finally:
            java_gateway.launch_gateway_server_process = launch
        from conformance.adapters.flink.names import remember  # noqa: PLC0415 - it needs what comes with PyFlink

        remember(self.gateway)

    def submit(
        self, cluster: Cluster, cases: Sequence[Placed], setup: Setup, built: int = 0, savepoint: Path | None = None
    ) -> str:
        """Build a job and submit it, from a savepoint if it was built so often before; its id."""
        from pyflink.common import Configuration  # noqa: PLC0415
        from pyflink.datastream import StreamExecutionEnvironment  # noqa: PLC0415

        given = {
            **setup.conf(cases[0].desk.folder),
            "python.executable": cluster.python,
            "python.client.executable": sys.executable,
        }
        if savepoint is not None:
            given["execution.state-recovery.path"] = f"file://{savepoint}"
        with self._building:
            conf = Configuration()
            for name, value in given.items():
                conf.set_string(name, value)
            jvm = self.gateway.jvm
            made = jvm.org.apache.flink.streaming.api.environment.RemoteStreamEnvironment(
                cluster.rest.host,
                cluster.rest.port,
                conf._j_configuration,  # noqa: SLF001 - the public way to an environment starts a cluster of its own
                self.gateway.new_array(jvm.String, 0),
            )
            environment = StreamExecutionEnvironment(made)
            environment.set_parallelism(1)
            # Every subtask of an operator takes a slot of its group's own.
            groups = max(1, cluster.groups // MORE) if setup.is_parallel else cluster.groups
            build(environment, cases, setup, built, groups=groups)
        return str(environment.execute_async(self._folder.name).get_job_id())

    def stop(self) -> None:
        """End the JVM; whoever comes next gets another one."""
        from pyflink import java_gateway  # noqa: PLC0415

        self.gateway.shutdown()
        java_gateway._gateway = None  # noqa: SLF001 - it would be given away again
        self._process.kill()
        self._process.communicate()


def python_path() -> str:
    """Python within a JVM knows nothing of the environment that we are in; so it is told where we find modules."""
    return os.pathsep.join(str(Path(each).absolute()) for each in sys.path if each and Path(each).exists())


def write_conf(folder: Path, settings: Mapping[str, Any], options: str = "") -> None:
    """A folder of configuration: Flink's own, with other settings."""
    import pyflink  # noqa: PLC0415

    home = Path(pyflink.__file__).parent / "conf"
    shutil.copytree(home, folder)
    told = (home / "config.yaml").read_text(encoding="utf-8").splitlines()
    opened = next(line.split(":", 1)[1].strip() for line in told if line.strip().startswith("all:"))
    lines = [
        f"env.java.opts.all: {opened} {options}".rstrip(),
        *(f"{name}: {value}" for name, value in settings.items()),
    ]
    (folder / "config.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")


class Embedded:
    """Flink's MiniCluster, in the JVM that builds the jobs."""

    groups = 1
    failures: tuple[str, ...] = ("crash", "restart")

    def __init__(self, client: Client) -> None:
        jvm = client.gateway.jvm
        conf = jvm.org.apache.flink.configuration.Configuration()
        for name, value in {
            **ANSWERS,
            **MEMORY,
            "rest.address": "localhost",
            "rest.bind-address": "127.0.0.1",
            "rest.bind-port": "0",
        }.items():
            conf.setString(name, value)
        mini = jvm.org.apache.flink.runtime.minicluster
        asked = mini.MiniClusterConfiguration.Builder().setConfiguration(conf)
        self._cluster = mini.MiniCluster(asked.setNumTaskManagers(1).setNumSlotsPerTaskManager(SLOTS).build())
        self._cluster.start()
        host, _, port = self._cluster.getRestAddress().get().getAuthority().partition(":")
        self.rest = Rest(host, int(port))
        self.python = sys.executable

    def settle(self, standbys: int) -> None:
        pass

    def stop(self) -> None:
        self._cluster.close()
