"""Spark Structured Streaming as an engine under test."""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import count
from pathlib import Path

from conformance.adapters.artifacts import discard
from conformance.adapters.jvm import find_java
from conformance.adapters.spark.driver_pool import CONCURRENT_QUERIES, run_groups
from conformance.adapters.spark.driver_slots import DriverLauncher, DriverSlot
from conformance.adapters.spark.master import check_master, explained_by_master
from conformance.adapters.spark.query import Query
from conformance.adapters.spark.query_supervisor import QuerySupervisor
from conformance.adapters.spark.schedule import QueryGroup, group_requests
from conformance.adapters.spark.setup import ONCE, TRANSFORM, parse_settings
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
        self._launcher: DriverLauncher | None = None
        self._slots: list[DriverSlot] = []
        self._query_numbers = count()

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
        self._launcher = DriverLauncher(self._setup, self._folder, dict(java.environment))
        self._slots = [DriverSlot(self._launcher, attempts) for attempts in (self._setup.attempts, ONCE)]
        with explained_by_master(self._setup.master):
            self._slots[0].driver()
        java_settings = java.settings("java of the driver" if self._setup.master.startswith("spark://") else "java")
        self._info = EngineInfo("spark", pyspark, self._setup.settings | java_settings)
        return Description(self._info, Capabilities(failures=self._failures(), holds=False), batch=BATCH_SIZE)

    def _failures(self) -> list[str]:
        """Return the failures that can be injected. On a foreign cluster, only a task can kill its executor."""
        phases = ["snapshot", "commit"] if self._setup.master == "local-cluster" else []
        return [
            "crash",
            "restart",
            "kill:coordinator",
            *(f"kill:worker:{phase}" for phase in ["processing", *phases]),
        ]

    def run(self, requests: Sequence[RunRequest]) -> Iterator[Observations]:
        groups = group_requests(requests, self._setup)
        concurrent = min(len(groups), CONCURRENT_QUERIES * len(self._slots))
        start_query = partial(self._start_query, concurrent=concurrent)
        with closing(run_groups(self._slots, groups, start_query)) as queries:
            observed: dict[int, Observations] = {}
            for request in requests:
                while request.id not in observed:
                    observed |= self._observed(next(queries))
                yield observed.pop(request.id)

    def shares(self, case: Case) -> bool:
        """Tell whether a case can share its query with others."""
        return len(group_requests([RunRequest(case), RunRequest(case)], self._setup)) == 1

    def _start_query(self, slot: DriverSlot, group: QueryGroup, *, concurrent: int) -> QuerySupervisor:
        """Start a query. Its timeout grows with the number of cases and of concurrent queries, which slow it down."""
        assert self._folder is not None  # noqa: S101 - the engine was started
        query = Query(self._folder / str(next(self._query_numbers)), group, self._setup)
        timeout = concurrent * group.requests[0].seconds * (1 + (len(group.requests) - 1) / 10)
        return QuerySupervisor(query, slot, timeout)

    def _observed(self, query: Query) -> dict[int, Observations]:
        """Return the observations of a query's requests, by the requests' ids, and hand over or delete its folder."""
        observations = query.observations(self._info)
        discard(query.folder, query.group.requests)
        return {request.id: seen for request, seen in zip(query.group.requests, observations, strict=True)}

    def stop(self) -> None:
        if self._launcher is not None:
            self._launcher.end_all()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
