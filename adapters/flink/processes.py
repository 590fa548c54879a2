"""`flink:processes`: the parts of a cluster as processes of this machine, which listen on loopback only."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from conformance.adapters.flink.cluster import python_path
from conformance.adapters.flink.roles import Layout
from conformance.adapters.flink.standalone import Standalone
from conformance.adapters.supervisor import OWNER, identity

LOOPBACK = "127.0.0.1"

LISTENS = re.compile(r"Rest endpoint listening at [^\s:]+:(\d+)")

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


class Process:
    """A part that is a process."""

    def __init__(self, name: str, command: list[str], environment: Mapping[str, str], log: Path) -> None:
        self.name = name
        self.log = log
        with log.open("wb") as said:
            self._process = subprocess.Popen(  # noqa: S603 - Java, as it was found
                command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=environment, start_new_session=True
            )

    @property
    def words(self) -> str:
        return f"{self.name} (process {self._process.pid})"

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def said(self) -> str:
        """What it has said so far."""
        with suppress(OSError):
            return self.log.read_text(encoding="utf-8", errors="replace")
        return ""

    def last_words(self) -> str:
        return " | ".join(self.said().splitlines()[-4:])[-600:]


class Processes(Standalone):
    """A cluster of processes."""

    def __init__(self, folder: Path, java: Mapping[str, str]) -> None:
        import pyflink  # noqa: PLC0415

        super().__init__()
        self.python = sys.executable
        self._folder = folder
        self._layout = Layout(folder, f"{LOOPBACK}:{_free_port()}", SETTINGS)
        self._layout.prepare()
        self._home = str(Path(pyflink.__file__).parent)
        self._environment = {
            **os.environ,
            **java,
            "PYTHONPATH": python_path(),
            "FLINK_CONF_DIR": str(self._layout.conf),
            "TMPDIR": str(self._layout.tmp),
            OWNER: os.environ.get(OWNER) or identity(),
        }
        home = self._environment.get("JAVA_HOME")
        self._java = str(Path(home, "bin", "java")) if home else "java"
        self.begin()

    def start(self, role: str, name: str) -> Process:
        command = self._layout.command(role, name, self._java, self._home)
        return Process(name, command, self._environment, self._folder / "log" / f"{name}.log")

    def listens(self, coordinator: Process) -> tuple[str, int] | None:
        found = LISTENS.search(coordinator.said())
        return (LOOPBACK, int(found[1])) if found else None


def _free_port() -> int:
    with socket.socket() as tried:
        tried.bind((LOOPBACK, 0))
        return int(tried.getsockname()[1])
