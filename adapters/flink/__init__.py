"""Apache Flink as an engine under test."""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from conformance.adapters import orphans
from conformance.adapters.artifacts import discard
from conformance.adapters.flink import image
from conformance.adapters.flink.schedule import CONCURRENT_JOBS, JobGroup, groups, job_seconds
from conformance.adapters.flink.setup import CONTAINERS, PROCESSES, set_up
from conformance.adapters.jvm import find_java
from conformance.engine import Capabilities, Description, RunRequest
from conformance.errors import EngineUnavailable, install_hint, require_version
from conformance.observation import EngineInfo, Observations

if TYPE_CHECKING:
    from conformance.adapters.flink.cluster import FlinkCluster

BATCH = 120
"""Cases in a batch."""

SUPPORTED = ("2.3",)
"""Versions of Flink that the adapter was tested with."""

NEEDS_GIVEN_EPOCHS = {"kill", "partition"}
"""Failures that are not supported where Flink places the borders: there the epoch in flight is not known."""

_MISSING = (
    f"flink needs apache-flink, which there is for Python up to 3.12: with one of these, {install_hint('flink')}"
    if sys.version_info >= (3, 13)
    else f"flink needs apache-flink: {install_hint('flink')}"
)


class Flink:
    """
    `flink`: a task is an operator with keyed state of its own, an epoch is what is between two checkpoints.

    PyFlink starts one JVM in a process, and never another. So there is one engine in a process (`subprocess_engine`).
    """

    def __init__(self, settings: Sequence[str]) -> None:
        self._setup = set_up(settings)
        self._folder: Path | None = None
        self._job_numbers = count()

    def start(self) -> Description:
        try:
            flink = version("apache-flink")
        except PackageNotFoundError:
            raise EngineUnavailable(_MISSING) from None
        require_version("flink", flink, SUPPORTED)
        if self._setup.place == CONTAINERS:
            image.check()
        from conformance.adapters.flink.cluster import JobClient  # noqa: PLC0415 - it needs PyFlink

        orphans.remove()
        self._folder = Path(tempfile.mkdtemp(prefix="flink-"))
        orphans.mark(self._folder)
        java = find_java("flink", self._folder)
        self.remarks = java.remarks
        self._client = JobClient(self._folder, java.environment)
        self._cluster = self._start_cluster(self._folder, java.environment)
        # Containers have a Java of their own.
        java_settings = getattr(self._cluster, "java_settings", java.settings)()
        self._info = EngineInfo("flink", flink, self._setup.settings | java_settings)
        return Description(
            self._info,
            Capabilities(
                failures=set(self._cluster.failures) - (NEEDS_GIVEN_EPOCHS if self._setup.is_own else set()),
                branches=self._setup.is_parallel,
            ),
            epochs=self._setup.epochs,  # type: ignore[arg-type]
            atomic=False,
            snapshots=self._setup.snapshots,  # type: ignore[arg-type]
            batch=BATCH,
        )

    def places(self) -> dict[str, str]:
        """Return where else it can run, each with the reason if it cannot."""
        try:
            image.check()
        except EngineUnavailable as error:
            return {PROCESSES: "", CONTAINERS: str(error)}
        return {PROCESSES: "", CONTAINERS: ""}

    def _start_cluster(self, folder: Path, java: Mapping[str, str]) -> "FlinkCluster":
        from conformance.adapters.flink.cluster import MiniCluster  # noqa: PLC0415
        from conformance.adapters.flink.containers import ContainerCluster  # noqa: PLC0415
        from conformance.adapters.flink.processes import ProcessCluster  # noqa: PLC0415

        if self._setup.place == PROCESSES:
            return ProcessCluster(folder, java)
        if self._setup.place == CONTAINERS:
            return ContainerCluster(folder)
        return MiniCluster(self._client)

    def run(self, requests: Sequence[RunRequest]) -> Iterator[Observations]:
        self._requested = len(requests)
        # A job whose operators are spread over all slots leaves no room for another.
        with ThreadPoolExecutor(CONCURRENT_JOBS if self._cluster.groups == 1 else 1) as threads:
            running: dict[int, Future[dict[int, Observations]]] = {}
            for group in groups(requests):
                job = threads.submit(self._run_job, group)
                running |= dict.fromkeys(group.requests, job)
            for number in range(len(requests)):
                yield running[number].result()[number]

    def _run_job(self, group: JobGroup) -> dict[int, Observations]:
        """Run a job, and return the observations by the ids of the run requests."""
        from conformance.adapters.flink.faults.standby import has_standby  # noqa: PLC0415
        from conformance.adapters.flink.job_run import JobRun  # noqa: PLC0415

        assert self._folder is not None  # noqa: S101 - it was started
        folder = self._folder / "jobs" / str(next(self._job_numbers))
        requests = list(group.requests.values())
        self._cluster.prepare(sum(map(has_standby, requests)))
        job = JobRun(group, self._setup, self._client, self._cluster, folder)
        job.run_until(monotonic() + job_seconds(requests, self._requested))
        observations = dict(job.observations(self._info))
        discard(folder, requests, logs=sorted(self._folder.glob("log/*.log")))
        return observations

    def stop(self) -> None:
        if self._folder is None:
            return
        if hasattr(self, "_cluster"):
            self._cluster.stop()
        if hasattr(self, "_client"):
            self._client.stop()
        shutil.rmtree(self._folder, ignore_errors=True)
