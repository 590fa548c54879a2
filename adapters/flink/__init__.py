"""Apache Flink as an engine under test."""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from conformance.adapters import orphans
from conformance.adapters.artifacts import discard
from conformance.adapters.flink import image
from conformance.adapters.flink.schedule import CONCURRENT_JOBS, JobGroup, group_requests, job_seconds
from conformance.adapters.flink.setup import CONTAINERS, EMBEDDED, PROCESSES, set_up
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
        self._clusters: dict[str, FlinkCluster] = {}
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
        self._java = java.environment
        self._client = JobClient(self._folder, self._java)
        # A cluster of processes takes longer to start, and many batches have no kill.
        cluster = self._start_cluster(self._setup.places[0])
        # Containers have a Java of their own.
        java_settings = getattr(cluster, "java_settings", java.settings)()
        self._info = EngineInfo("flink", flink, self._setup.settings | java_settings)
        return Description(
            self._info,
            Capabilities(
                failures=self._failures() - (NEEDS_GIVEN_EPOCHS if self._setup.has_own_epochs else set()),
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

    def _failures(self) -> set[str]:
        """Return the failures that are possible in some place."""
        from conformance.adapters.flink.cluster import MiniCluster  # noqa: PLC0415 - it needs PyFlink
        from conformance.adapters.flink.containers import ContainerCluster  # noqa: PLC0415
        from conformance.adapters.flink.standalone import StandaloneCluster  # noqa: PLC0415

        possible = {
            EMBEDDED: MiniCluster.failures,
            PROCESSES: StandaloneCluster.failures,
            CONTAINERS: ContainerCluster.failures,
        }
        return {failure for place in self._setup.places for failure in possible[place]}

    def _start_cluster(self, place: str) -> "FlinkCluster":
        """Start the cluster of a place, if it is not there yet."""
        from conformance.adapters.flink.cluster import MiniCluster  # noqa: PLC0415
        from conformance.adapters.flink.containers import ContainerCluster  # noqa: PLC0415
        from conformance.adapters.flink.processes import ProcessCluster  # noqa: PLC0415

        assert self._folder is not None  # noqa: S101 - it was started
        if place not in self._clusters:
            if place == PROCESSES:
                self._clusters[place] = ProcessCluster(self._folder, self._java)
            elif place == CONTAINERS:
                self._clusters[place] = ContainerCluster(self._folder)
            else:
                self._clusters[place] = MiniCluster(self._client)
        return self._clusters[place]

    def run(self, requests: Sequence[RunRequest]) -> Iterator[Observations]:
        # Jobs in one JVM share its slots, and the longest come first. A job whose operators are spread over all slots
        # of a cluster leaves no room for another. Such jobs come last, when nothing else takes time from processes
        # whose heartbeats are watched, and in the order in which they are awaited.
        groups = group_requests(requests)
        embedded = [group for group in groups if self._place_of(group) == EMBEDDED]
        spread = [group for group in groups if self._place_of(group) != EMBEDDED]
        position = {request.id: number for number, request in enumerate(requests)}
        spread.sort(key=lambda group: position[group.requests[0].id])
        with ThreadPoolExecutor(CONCURRENT_JOBS) as threads, ThreadPoolExecutor(1) as one_thread:
            first = [threads.submit(self._run_job, group, len(requests)) for group in embedded]
            last = [one_thread.submit(self._run_job, group, len(requests), after=first) for group in spread]
            running: dict[int, Future[dict[int, Observations]]] = {}
            for group, job in zip([*embedded, *spread], [*first, *last], strict=True):
                running |= dict.fromkeys((request.id for request in group.requests), job)
            for request in requests:
                yield running[request.id].result()[request.id]

    def _place_of(self, group: JobGroup) -> str:
        """Return the place of a group. Cases with kills are in groups of their own."""
        return self._setup.place_of(group.requests[0].case)

    def _run_job(self, group: JobGroup, requested: int, after: Sequence[Future[Any]] = ()) -> dict[int, Observations]:
        """Run a job after others, one of so many requested cases; return observations by the ids of the requests."""
        from conformance.adapters.flink.faults.standby import has_standby  # noqa: PLC0415 - it needs PyFlink
        from conformance.adapters.flink.job_run import JobRun  # noqa: PLC0415

        wait(after)
        place = self._place_of(group)
        cluster = self._start_cluster(place)
        assert self._folder is not None  # noqa: S101 - it was started
        folder = self._folder / "jobs" / str(next(self._job_numbers))
        requests = group.requests
        cluster.prepare(sum(map(has_standby, requests)))
        job = JobRun(group, self._setup, self._client, cluster, folder)
        job.run_until(monotonic() + job_seconds(requests, requested))
        several = len(self._setup.places) > 1
        observations = dict(job.observations(self._info, place if several else None))
        discard(folder, requests, logs=sorted(self._folder.glob("log/*.log")))
        return observations

    def stop(self) -> None:
        if self._folder is None:
            return
        for cluster in self._clusters.values():
            cluster.stop()
        if hasattr(self, "_client"):
            self._client.stop()
        shutil.rmtree(self._folder, ignore_errors=True)
