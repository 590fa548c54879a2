"""Spark Structured Streaming as an engine under test."""

import shutil
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from conformance.adapters.artifacts import discard
from conformance.adapters.jvm import find_java
from conformance.adapters.spark.deployment import SparkDeployment
from conformance.adapters.spark.master import check_master, explained_by_master
from conformance.adapters.spark.schedule import group_requests
from conformance.adapters.spark.setup import LOCAL_CLUSTER, TRANSFORM, parse_settings
from conformance.case import Case
from conformance.engine import Capabilities, Description, RunRequest
from conformance.errors import EngineUnavailable, install_hint, require_version
from conformance.observation import EngineInfo, Observations

BATCH_SIZE = 150
"""Run requests in a batch."""

SUPPORTED = ("4.1",)
"""Versions of Spark that the adapter was tested with."""

SWITCH_INTERVAL = 0.0005
"""Seconds after which Python switches threads, so that the thread that polls a kill window runs often enough."""


class Spark:
    """`spark`: a task is a group with its own state in Spark's state store, an epoch is a micro-batch."""

    def __init__(self, settings: Sequence[str]) -> None:
        self._setup = parse_settings(settings)
        self._folder: Path | None = None
        self._deployments: dict[str, SparkDeployment] = {}

    def start(self) -> Description:
        try:
            pyspark = version("pyspark")
        except PackageNotFoundError:
            raise EngineUnavailable(f"spark needs pyspark: {install_hint('spark')}") from None
        require_version("spark", pyspark, SUPPORTED)
        if self._setup.operator == TRANSFORM and find_spec("google.protobuf.descriptor") is None:
            hint = install_hint("spark-transform")
            raise EngineUnavailable(f"spark's transform-with-state needs protobuf: {hint}")
        check_master(self._setup.master, "use spark without a master")
        self._folder = Path(tempfile.mkdtemp(prefix="spark-"))
        sys.setswitchinterval(SWITCH_INTERVAL)
        java = find_java("spark", self._folder)
        self.remarks = java.remarks
        self._java = java.environment
        with explained_by_master(self._setup.master):
            self._deployment(self._setup.masters[0]).warm_up()
        java_settings = java.settings("java of the driver" if self._setup.master.startswith("spark://") else "java")
        self._info = EngineInfo("spark", pyspark, self._setup.settings | java_settings)
        return Description(self._info, Capabilities(failures=self._failures(), holds=False), batch=BATCH_SIZE)

    def _failures(self) -> list[str]:
        """Return the failures that can be injected. On a foreign cluster, only a task can kill its executor."""
        phases = ["snapshot", "commit"] if LOCAL_CLUSTER in self._setup.masters else []
        return [
            "crash",
            "restart",
            "kill:coordinator",
            *(f"kill:worker:{phase}" for phase in ["processing", *phases]),
        ]

    def _deployment(self, master: str) -> SparkDeployment:
        """Return the drivers of a master; the first time, set them up."""
        assert self._folder is not None  # noqa: S101 - the engine was started
        if master not in self._deployments:
            folder = self._folder / str(len(self._deployments))
            self._deployments[master] = SparkDeployment(self._setup.on(master), folder, self._java)
        return self._deployments[master]

    def run(self, requests: Sequence[RunRequest]) -> Iterator[Observations]:
        with closing(self._observed(requests)) as queries:
            observed: dict[int, Observations] = {}
            for request in requests:
                while request.id not in observed:
                    observed |= next(queries)
                yield observed.pop(request.id)

    def _observed(self, requests: Sequence[RunRequest]) -> Generator[dict[int, Observations]]:
        """Run requests, one master after the other; yield observations by the ids of their requests."""
        for master in self._setup.masters:
            chosen = [request for request in requests if self._setup.master_of(request.case) == master]
            if not chosen:
                continue
            with closing(self._deployment(master).run(chosen)) as queries:
                for query in queries:
                    observations = query.observations(self._info, master if len(self._setup.masters) > 1 else None)
                    discard(query.folder, query.group.requests)
                    yield {request.id: seen for request, seen in zip(query.group.requests, observations, strict=True)}

    def shares(self, case: Case) -> bool:
        """Tell whether a case can share its query with others."""
        setup = self._setup.on(self._setup.master_of(case))
        return len(group_requests([RunRequest(case), RunRequest(case)], setup)) == 1

    def stop(self) -> None:
        for deployment in self._deployments.values():
            deployment.stop()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
