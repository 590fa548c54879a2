"""A driver process, as the engine that starts and kills it sees it."""

import json
import os
import signal
import subprocess
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import psutil

from conformance.adapters.spark.task_faults import is_executor
from conformance.adapters.subprocess_engine import own_process
from conformance.errors import EngineFailed

ANSWER_TIMEOUT = 100.0
"""Seconds within which a driver is ready, or stops a query."""


class DriverProcess:
    """A driver in its own process group. The constructor does not wait until the driver is ready."""

    def __init__(self, master: str, conf: dict[str, str], environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            own_process("conformance.adapters.spark.driver", master, json.dumps(conf)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **environment},
            start_new_session=True,
        )
        assert self._process.stdin is not None  # noqa: S101 - a pipe was requested
        assert self._process.stdout is not None  # noqa: S101
        os.set_blocking(self._process.stdout.fileno(), False)
        self._in, self._out = self._process.stdin, self._process.stdout
        self._unread = b""
        self._messages: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._processes: list[int] = []

    @property
    def id(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_dead(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def wait_until_ready(self) -> None:
        """Wait until the driver accepts commands."""
        if not self._processes:
            self._processes = self._wait_for("", "ready")["processes"]

    def take_messages(self, folder: Path) -> list[dict[str, Any]]:
        """Return the messages about a query since the last call."""
        self._receive()
        return self._messages.pop(str(folder), [])

    def _receive(self) -> None:
        while not self._out.closed and (chunk := self._out.read()):
            self._unread += chunk
        *lines, self._unread = self._unread.split(b"\n")
        for line in lines:
            message = json.loads(line)
            self._messages[message.get("folder", "")].append(message)

    def start_query(self, folder: Path) -> None:
        """Tell the driver to start a query. The command is lost if the driver is dead."""
        self._send({"query": str(folder)})

    def stop_query(self, folder: Path) -> None:
        """Stop a query, and wait until it has stopped."""
        if not self.is_dead:
            self._send({"stop": str(folder)})
            self._wait_for(str(folder), "stopped")

    def _send(self, command: dict[str, object]) -> None:
        with suppress(BrokenPipeError, ValueError):  # The driver is dead, and its pipe closed.
            self._in.write(json.dumps(command).encode() + b"\n")
            self._in.flush()

    def _wait_for(self, folder: str, key: str) -> dict[str, Any]:
        deadline = monotonic() + ANSWER_TIMEOUT
        while True:
            self._receive()
            for message in self._messages[folder]:
                if key in message:
                    del self._messages[folder]
                    return message
            if monotonic() > deadline:
                raise EngineFailed(f"its driver did not say {key} within {ANSWER_TIMEOUT:g} s")
            if self.is_dead and key == "ready":
                raise EngineFailed(f"its driver ended with exit code {self._process.returncode}")
            if self.is_dead:
                return {}
            sleep(0.005)

    def kill(self) -> None:
        """Send SIGKILL to the JVM first, because it writes the files, and then to the Python process."""
        for process in self._processes:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        for process in self._processes:
            _wait_until_dead(process)
        self._process.wait()
        self.close()

    def kill_executor(self) -> int | None:
        """Send SIGKILL to one executor of the driver; return its process id, or None if there is no executor."""
        for process in psutil.Process(self._processes[0]).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if is_executor(process):
                    process.kill()
                    return process.pid
        return None

    def pause(self) -> None:
        """Stop the JVM, so that its files do not change while they are read."""
        with suppress(ProcessLookupError):
            os.kill(self._processes[0], signal.SIGSTOP)

    def resume(self) -> None:
        """Continue the JVM after `pause`."""
        with suppress(ProcessLookupError):
            os.kill(self._processes[0], signal.SIGCONT)

    def end(self) -> None:
        """Kill the driver and all processes of its group."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self.close()

    def close(self) -> None:
        """Close the pipes."""
        for pipe in (self._in, self._out):
            with suppress(OSError):
                pipe.close()


def _wait_until_dead(process: int) -> None:
    """Wait for a process that is not our child to exit; its new parent may reap it late."""
    with suppress(psutil.NoSuchProcess):
        victim = psutil.Process(process)
        while victim.is_running() and victim.status() != psutil.STATUS_ZOMBIE:
            sleep(0.001)
