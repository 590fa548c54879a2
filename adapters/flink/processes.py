"""`flink:processes`: the nodes of a cluster as processes of this machine, which listen on loopback only."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from conformance.adapters import orphans
from conformance.adapters.flink.cluster import python_path
from conformance.adapters.flink.rest import LOOPBACK
from conformance.adapters.flink.roles import ClusterLayout
from conformance.adapters.flink.standalone import StandaloneCluster
from conformance.adapters.supervisor import OWNER
from conformance.errors import EngineFailed

REST_ENDPOINT = re.compile(r"Rest endpoint listening at [^\s:]+:(\d+)")

SETTINGS = {
    "jobmanager.rpc.address": LOOPBACK,
    "jobmanager.bind-host": LOOPBACK,
    "rest.address": LOOPBACK,
    "rest.bind-address": LOOPBACK,
    "rest.bind-port": "0",
    "taskmanager.host": LOOPBACK,
    "taskmanager.bind-host": LOOPBACK,
    "python.executable": sys.executable,
    "python.client.executable": sys.executable,
}


class ProcessNode:
    """A node that is a process."""

    def __init__(self, name: str, command: list[str], environment: Mapping[str, str], log: Path) -> None:
        self.name = name
        self.log = log
        with log.open("wb") as output:
            self._process = subprocess.Popen(  # noqa: S603 - our own command
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment, start_new_session=True
            )

    @property
    def description(self) -> str:
        return f"{self.name} (process {self._process.pid})"

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def suspend(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def disconnect(self) -> None:
        raise EngineFailed(f"{self.description} has no network of its own")

    def reconnect(self) -> None:
        raise EngineFailed(f"{self.description} has no network of its own")

    def output(self) -> str:
        """Return its output so far."""
        with suppress(OSError):
            return self.log.read_text(encoding="utf-8", errors="replace")
        return ""

    def last_output(self) -> str:
        return " | ".join(self.output().splitlines()[-4:])[-600:]


class ProcessCluster(StandaloneCluster):
    """A cluster of processes."""

    def __init__(self, folder: Path, java: Mapping[str, str]) -> None:
        import pyflink  # noqa: PLC0415

        super().__init__()
        self.python = sys.executable
        self._folder = folder
        self._layout = ClusterLayout(folder, f"{LOOPBACK}:{_free_port()}", SETTINGS)
        self._layout.prepare()
        self._home = str(Path(pyflink.__file__).parent)
        self._environment = {
            **os.environ,
            **java,
            "PYTHONPATH": python_path(),
            "FLINK_CONF_DIR": str(self._layout.conf),
            "TMPDIR": str(self._layout.tmp),
            OWNER: orphans.owner(),
        }
        home = self._environment.get("JAVA_HOME")
        self._java = str(Path(home, "bin", "java")) if home else "java"
        self.start()

    def start_node(self, role: str, name: str) -> ProcessNode:
        command = self._layout.command(role, name, self._java, self._home)
        return ProcessNode(name, command, self._environment, self._folder / "log" / f"{name}.log")

    def rest_address(self, coordinator: ProcessNode) -> tuple[str, int] | None:
        found = REST_ENDPOINT.search(coordinator.output())
        return (LOOPBACK, int(found[1])) if found else None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])
