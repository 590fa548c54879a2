"""Driver processes: started, told, listened to, killed, and replaced."""

import json
import os
import signal
import subprocess
import threading
from collections import defaultdict
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import psutil

from conformance.adapters.spark.operators import is_executor
from conformance.adapters.spark.setup import Setup, python_path
from conformance.adapters.subprocess_engine import own_process
from conformance.errors import EngineFailed

QUICK_TO_START = (
    # A driver lives for a minute or so, in which compiling thoroughly does not pay: two fifths of its time.
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
    # Thousands of Spark's classes are loaded each time, and were right the time before.
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote "
    # Hadoop asks other programs for what Java cannot tell it of a file.
    "-Djdk.lang.Process.launchMechanism=VFORK"
)
"""For Java."""

START = 100.0
"""Seconds for a driver to be ready, or to stop a query."""


class DriverProcess:
    """A driver, in a process group of its own. It is not waited for until it is needed."""

    def __init__(self, master: str, conf: dict[str, str], environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            own_process("conformance.adapters.spark.driver", master, json.dumps(conf)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **environment},
            start_new_session=True,
        )
        assert self._process.stdin is not None  # noqa: S101 - they were asked for
        assert self._process.stdout is not None  # noqa: S101
        os.set_blocking(self._process.stdout.fileno(), False)
        self._in, self._out = self._process.stdin, self._process.stdout
        self._unread = b""
        self._said: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._processes: list[int] = []

    @property
    def is_dead(self) -> bool:
        """Whether it is gone."""
        return self._process.poll() is not None

    def wait_until_ready(self) -> None:
        """Wait until it can be told something."""
        if not self._processes:
            self._processes = self._wait_for("", "ready")["processes"]

    def said(self, folder: Path) -> list[dict[str, Any]]:
        """What it has said of a query since it was last asked."""
        self._listen()
        return self._said.pop(str(folder), [])

    def _listen(self) -> None:
        while not self._out.closed and (chunk := self._out.read()):
            self._unread += chunk
        *lines, self._unread = self._unread.split(b"\n")
        for line in lines:
            message = json.loads(line)
            self._said[message.get("folder", "")].append(message)

    def query(self, folder: Path) -> None:
        """Start a query. A driver that is killed meanwhile was asked in vain."""
        self._tell({"query": str(folder)})

    def stop_query(self, folder: Path) -> None:
        """Stop it, and wait until it has stopped."""
        if not self.is_dead:
            self._tell({"stop": str(folder)})
            self._wait_for(str(folder), "stopped")

    def _tell(self, message: dict[str, object]) -> None:
        try:
            self._in.write(json.dumps(message).encode() + b"\n")
            self._in.flush()
        except (BrokenPipeError, ValueError):
            return  # It is dead, and its pipe closed.

    def _wait_for(self, about: str, word: str) -> dict[str, Any]:
        until = monotonic() + START
        while True:
            self._listen()
            for message in self._said[about]:
                if word in message:
                    del self._said[about]
                    return message
            if monotonic() > until:
                raise EngineFailed(f"its driver did not say {word} within {START:g} s")
            if self.is_dead and word == "ready":
                raise EngineFailed(f"its driver ended with exit code {self._process.returncode}")
            if self.is_dead:
                return {}
            sleep(0.005)

    def kill(self) -> None:
        """SIGKILL: Spark's process first, as it is the one that writes. What runs for it elsewhere has to notice."""
        for process in self._processes:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        for process in self._processes:
            _wait_until_dead(process)
        self._process.wait()
        self.close()

    def kill_an_executor(self) -> int | None:
        """SIGKILL of one of its executors, if it has any."""
        for process in psutil.Process(self._processes[0]).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if is_executor(process):
                    process.kill()
                    return process.pid
        return None

    def pause(self) -> None:
        """Let it do nothing, for as long as it takes to look where it is."""
        with suppress(ProcessLookupError):
            os.kill(self._processes[0], signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it go on."""
        with suppress(ProcessLookupError):
            os.kill(self._processes[0], signal.SIGCONT)

    def end(self) -> None:
        """End it and whatever it has started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self.close()

    def close(self) -> None:
        """Nothing more is heard of it."""
        for end in (self._in, self._out):
            with suppress(OSError):
                end.close()


def _wait_until_dead(process: int) -> None:
    """A process that is not our child, and that whoever it is left to may be slow to bury."""
    with suppress(psutil.NoSuchProcess):
        victim = psutil.Process(process)
        while victim.is_running() and victim.status() != psutil.STATUS_ZOMBIE:
            sleep(0.001)


class Drivers:
    """The drivers of an engine."""

    def __init__(self, setup: Setup, folder: Path, environment: dict[str, str]) -> None:
        self._setup = setup
        self._folder = folder
        self._environment = environment
        self._all: list[DriverProcess] = []
        self._lock = threading.Lock()
        self._home = folder / "home"
        (folder / "tmp").mkdir()
        _imitate_home(self._home)

    def begin(self, attempts: int) -> DriverProcess:
        """Another one, in which a task is tried so often."""
        # A driver that is killed cleans nothing up, so all it writes stands where we do.
        tmp = str(self._folder / "tmp")
        conf = self._setup.conf(attempts) | {
            "spark.local.dir": tmp,
            "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={tmp} {QUICK_TO_START}",
            "spark.sql.warehouse.dir": str(self._folder / "warehouse"),
        }
        environment = self._environment | {
            "PYTHONPATH": python_path(),
            "SPARK_HOME": str(self._home),
            **({"SPARK_LOCAL_IP": "127.0.0.1"} if self._setup.is_here else {}),
        }
        with self._lock:
            driver = DriverProcess(self._setup.master_for(attempts), conf, environment)
            for dead in [each for each in self._all if each.is_dead]:
                dead.close()
                self._all.remove(dead)
            self._all.append(driver)
        return driver

    def end(self) -> None:
        """End them all."""
        for driver in self._all:
            driver.end()


class Lane:
    """
    One driver after the other, in which a task may be tried so often.

    A driver that is cold takes as long as a case, so the next one is on its way before the one that is there dies, and
    none is begun that nobody is going to need.
    """

    def __init__(self, drivers: Drivers, attempts: int) -> None:
        self.attempts = attempts
        self._drivers = drivers
        self._driver: DriverProcess | None = None
        self._next: DriverProcess | None = None

    def driver(self, *, dies: bool = False) -> DriverProcess:
        """The one that is there, ready; with another one in reserve if it is going to die."""
        if self._driver is None or self._driver.is_dead:
            self._driver, self._next = self._next or self._drivers.begin(self.attempts), None
        if dies and self._next is None:
            self._next = self._drivers.begin(self.attempts)
        self._driver.wait_until_ready()
        return self._driver


def _imitate_home(home: Path) -> None:
    """
    A home for Spark that has all of its own in it, but for what it writes there.

    On a local cluster, workers write into a folder `work` of Spark's home, which is Python's site-packages.
    """
    spec = find_spec("pyspark")
    assert spec is not None  # noqa: S101 - it was looked for before
    assert spec.origin is not None  # noqa: S101
    home.mkdir()
    for each in Path(spec.origin).parent.iterdir():
        if each.name != "work":
            (home / each.name).symlink_to(each)
