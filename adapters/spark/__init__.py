"""Spark Structured Streaming as an engine under test."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path
from time import monotonic, sleep

from adapters.hosted import own_process
from adapters.spark.layout import levels
from adapters.spark.run import Query
from conformance.case import Crash, Kill, Restart
from conformance.engine import Capabilities, Description, Job
from conformance.errors import EngineFailed, EngineUnavailable, UnknownEngine
from conformance.observation import EngineInfo, Observations

BATCH = 50
"""Cases in one query."""

RETRYING, DYING = "local[2,1000]", "local[2,1]"
"""Masters: on one a task that failed is done again, on the other the query dies of it."""

STARTUP = str(Path(__file__).parent / "startup")
"""What makes Spark's Python workers start faster."""

START = 100.0
"""Seconds for a driver to be ready."""


class Spark:
    """`spark`: a task is a group with state of its own in Spark's state store, an epoch a micro-batch."""

    def __init__(self, settings: Sequence[str]) -> None:
        if settings:
            raise UnknownEngine(f"spark has no setting {settings[0]!r}; it has none yet")
        self._folder: Path | None = None
        self._drivers: dict[str, DriverProcess] = {}
        self._queries = 0

    def start(self) -> Description:
        try:
            pyspark = version("pyspark")
        except PackageNotFoundError:
            raise EngineUnavailable("spark needs pyspark: pip install 'dataflow-conformance[spark]'") from None
        if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
            raise EngineUnavailable("spark needs Java 17 or 21, on PATH or in JAVA_HOME; found none")
        self._folder = Path(tempfile.mkdtemp(prefix="spark-"))
        self._running(RETRYING)
        failures = ["crash", "restart", "kill:worker:processing", "kill:coordinator:processing"]
        return Description(
            _info(pyspark),
            Capabilities(failures=failures, holds=False),
            batch=BATCH,
        )

    def run(self, jobs: Sequence[Job]) -> Iterator[Observations]:
        together = [job for job in jobs if not _wants_a_query_of_its_own(job)]
        shared = dict(zip(map(id, together), self._run(together, RETRYING), strict=True)) if together else {}
        for job in jobs:
            yield shared[id(job)] if id(job) in shared else self._run([job], _master(job))[0]

    def _run(self, jobs: Sequence[Job], master: str) -> list[Observations]:
        """One query for these cases."""
        assert self._folder is not None  # noqa: S101 - it was started
        folder = self._folder / str(self._queries)
        self._queries += 1
        query = Query(folder, jobs)
        until = monotonic() + jobs[0].seconds * (1 + len(jobs) / 10)
        driver = self._running(master)
        driver.query(folder)
        while not query.is_done and monotonic() < until:
            query.look()
            for said in driver.said():
                if "ended" in said:
                    # The query died with its last attempt; what is durable is where the next one starts.
                    driver.query(folder)
            if driver.is_dead:
                driver = self._running(master)
                driver.query(folder)
            if query.wants_restart():
                driver.stop_query()
                query.restarted()
                driver.query(folder)
            sleep(0.02)
        driver.stop_query()
        query.look(last=True)
        shutil.rmtree(folder, ignore_errors=True)
        return query.observations(_info(version("pyspark")))

    def _running(self, master: str) -> "DriverProcess":
        if master in self._drivers and self._drivers[master].is_dead:
            self._drivers.pop(master).kill()
        if master not in self._drivers:
            assert self._folder is not None  # noqa: S101 - it is made before any driver is
            (self._folder / "tmp").mkdir(exist_ok=True)
            # A driver that is killed cleans nothing up, so all it writes stands where we do.
            places = {
                "spark.local.dir": str(self._folder / "tmp"),
                "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={self._folder / 'tmp'}",
                "spark.sql.warehouse.dir": str(self._folder / "warehouse"),
            }
            self._drivers[master] = DriverProcess(master, places)
        return self._drivers[master]

    def stop(self) -> None:
        for driver in self._drivers.values():
            driver.kill()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _info(pyspark: str) -> EngineInfo:
    return EngineInfo("spark", pyspark, {"master": "local", "sink": "file"})


def _wants_a_query_of_its_own(job: Job) -> bool:
    """Whether a failure of this case would be one of every case in its query."""
    ends_it = any(
        isinstance(failure, Restart) or (isinstance(failure, Kill) and failure.target == "coordinator")
        for failure in job.case.failures
    )
    return ends_it or _master(job) == DYING


def _master(job: Job) -> str:
    """
    How a case has to be run so that its failures can all happen.

    Where Spark does a failed task again, it does nothing else again: what stands beside it or above it in the graph is
    done with that epoch, and cannot fail in it any more. A case that asks for that is run where a failed task is the
    end of the query, which starts again from its checkpoint and does the whole epoch anew.
    """
    level = levels(job.case.graph)
    level_of = {task.name: level[task.output] for task in job.case.graph.tasks}
    for one, two in pairwise(job.case.failures):
        if one.epoch == two.epoch and not isinstance(one, Restart):
            below = isinstance(one, Crash) and isinstance(two, Crash) and level_of[two.task] > level_of[one.task]
            same = isinstance(one, Crash) and isinstance(two, Crash) and one.task == two.task
            if not below and not same:
                return DYING
    return RETRYING


class DriverProcess:
    """A driver, in a process group of its own."""

    def __init__(self, master: str, settings: dict[str, str]) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            own_process("adapters.spark.driver", master, json.dumps(settings)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [STARTUP, os.environ.get("PYTHONPATH")]))},
            start_new_session=True,
        )
        assert self._process.stdin is not None  # noqa: S101 - they were asked for
        assert self._process.stdout is not None  # noqa: S101
        os.set_blocking(self._process.stdout.fileno(), False)
        self._in, self._out = self._process.stdin, self._process.stdout
        self._unread = b""
        self._wait_for("ready", START)

    @property
    def is_dead(self) -> bool:
        """Whether it is gone."""
        return self._process.poll() is not None

    def said(self) -> list[dict[str, object]]:
        """What it has said since it was last asked."""
        while chunk := self._out.read():
            self._unread += chunk
        *lines, self._unread = self._unread.split(b"\n")
        return [json.loads(line) for line in lines]

    def query(self, folder: Path) -> None:
        """Start a query. A driver that is killed meanwhile was asked in vain."""
        self._tell({"query": str(folder)})

    def stop_query(self) -> None:
        """Stop it, and wait until it has stopped."""
        if not self.is_dead:
            self._tell({"stop": True})
            self._wait_for("stopped", START)

    def _tell(self, message: dict[str, object]) -> None:
        try:
            self._in.write(json.dumps(message).encode() + b"\n")
            self._in.flush()
        except BrokenPipeError:
            return

    def _wait_for(self, word: str, seconds: float) -> None:
        until = monotonic() + seconds
        while not any(word in said for said in self.said()):
            if monotonic() > until:
                raise EngineFailed(f"its driver did not say {word} within {seconds:g} s")
            if self.is_dead and word == "ready":
                raise EngineFailed(f"its driver ended with exit code {self._process.returncode}")
            if self.is_dead:
                return
            sleep(0.01)

    def kill(self) -> None:
        """End it and its JVM."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for end in (self._in, self._out):
            with suppress(OSError):
                end.close()
