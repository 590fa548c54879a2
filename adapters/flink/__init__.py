"""Apache Flink as an engine under test."""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.adapters import orphans
from conformance.adapters.flink import image
from conformance.adapters.flink.schedule import Group, groups
from conformance.adapters.flink.setup import CONTAINERS, PROCESSES, set_up
from conformance.adapters.jvm import java_home
from conformance.engine import Capabilities, Description, RunRequest
from conformance.errors import EngineUnavailable
from conformance.observation import EngineInfo, Observations

if TYPE_CHECKING:
    from conformance.adapters.flink.cluster import Cluster

BATCH = 120
"""Cases that are given to it at once."""

AT_ONCE = 4
"""Jobs at a time."""

UNAIMED = {"kill", "partition"}
"""What is not done where Flink decides when to take a checkpoint, as nobody can say which epoch is in flight."""

_MISSING = (
    "flink needs apache-flink, which there is for Python up to 3.12: pip install 'dataflow-conformance[flink]' there"
    if sys.version_info >= (3, 13)
    else "flink needs apache-flink: pip install 'dataflow-conformance[flink]'"
)


class Flink:
    """
    `flink`: a task is an operator with keyed state of its own, an epoch is what is between two checkpoints.

    PyFlink has one JVM in a process, and never another, so there is one of these in a process (`hosted`).
    """

    def __init__(self, settings: Sequence[str]) -> None:
        self._setup = set_up(settings)
        self._folder: Path | None = None
        self._numbers = count()

    def start(self) -> Description:
        try:
            flink = version("apache-flink")
        except PackageNotFoundError:
            raise EngineUnavailable(_MISSING) from None
        if self._setup.place == CONTAINERS:
            image.check()
        from conformance.adapters.flink.cluster import Client  # noqa: PLC0415 - what follows needs PyFlink

        orphans.remove()
        self._folder = Path(tempfile.mkdtemp(prefix="flink-"))
        orphans.mark(self._folder)
        java = java_home("flink", self._folder)
        self._client = Client(self._folder, java)
        self._cluster = self._place(java)
        self._info = EngineInfo("flink", flink, self._setup.settings)
        return Description(
            self._info,
            Capabilities(
                failures=set(self._cluster.failures) - (UNAIMED if self._setup.is_own else set()),
                branches=self._setup.is_parallel,
            ),
            epochs=self._setup.epochs,  # type: ignore[arg-type]
            atomic=False,
            snapshots=self._setup.snapshots,  # type: ignore[arg-type]
            batch=BATCH,
        )

    def places(self) -> dict[str, str]:
        """Where else it can run, and if it cannot, why."""
        try:
            image.check()
        except EngineUnavailable as error:
            return {PROCESSES: "", CONTAINERS: str(error)}
        return {PROCESSES: "", CONTAINERS: ""}

    def _place(self, java: Mapping[str, str]) -> "Cluster":
        from conformance.adapters.flink.cluster import Embedded  # noqa: PLC0415
        from conformance.adapters.flink.containers import Containers  # noqa: PLC0415
        from conformance.adapters.flink.processes import Processes  # noqa: PLC0415

        assert self._folder is not None  # noqa: S101 - it was made before
        if self._setup.place == PROCESSES:
            return Processes(self._folder, java)
        if self._setup.place == CONTAINERS:
            return Containers(self._folder)
        return Embedded(self._client)

    def run(self, jobs: Sequence[RunRequest]) -> Iterator[Observations]:
        waiting = groups(jobs)
        # Where operators are spread over all the slots there are, a job leaves no room for another.
        with ThreadPoolExecutor(AT_ONCE if self._cluster.groups == 1 else 1) as threads:
            running = {id(job): threads.submit(self._ran, group) for group in waiting for job in group.jobs[:1]}
            found = {id(job): running[id(group.jobs[0])] for group in waiting for job in group.jobs}
            for job in jobs:
                yield found[id(job)].result()[id(job)]

    def _ran(self, group: Group) -> dict[int, Observations]:
        from conformance.adapters.flink.run import Run  # noqa: PLC0415
        from conformance.adapters.flink.violence import has_standby  # noqa: PLC0415

        assert self._folder is not None  # noqa: S101 - it was started
        folder = self._folder / "jobs" / str(next(self._numbers))
        self._cluster.settle(sum(map(has_standby, group.jobs)))
        run = Run(group, self._setup, self._client, self._cluster, folder)
        run.go(AT_ONCE * group.jobs[0].seconds * (1 + (len(group.jobs) - 1) / 10))
        found = dict(zip(map(id, group.jobs), run.observations(self._info), strict=True))
        shutil.rmtree(folder, ignore_errors=True)
        return found

    def stop(self) -> None:
        if self._folder is None:
            return
        if hasattr(self, "_cluster"):
            self._cluster.stop()
        if hasattr(self, "_client"):
            self._client.stop()
        shutil.rmtree(self._folder, ignore_errors=True)
