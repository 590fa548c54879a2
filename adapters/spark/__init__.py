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

from conformance.adapters.jvm import java_home
from conformance.adapters.spark.driver_pool import AT_ONCE, finished
from conformance.adapters.spark.drivers import Drivers, Lane
from conformance.adapters.spark.query import Query
from conformance.adapters.spark.query_supervisor import Running
from conformance.adapters.spark.schedule import Group, groups
from conformance.adapters.spark.setup import ONCE, TRANSFORM, set_up
from conformance.case import Case
from conformance.engine import Capabilities, Description, RunRequest
from conformance.errors import EngineUnavailable
from conformance.observation import EngineInfo, Observations

BATCH = 150
"""Cases that are given to it at once."""

TURN = 0.0005
"""Seconds after which a thread that watches gets its turn, whatever another is at."""


class Spark:
    """`spark`: a task is a group with state of its own in Spark's state store, an epoch a micro-batch."""

    def __init__(self, settings: Sequence[str]) -> None:
        self._setup = set_up(settings)
        self._folder: Path | None = None
        self._drivers: Drivers | None = None
        self._lanes: list[Lane] = []
        self._queries = count()

    def start(self) -> Description:
        try:
            pyspark = version("pyspark")
        except PackageNotFoundError:
            raise EngineUnavailable("spark needs pyspark: pip install 'dataflow-conformance[spark]'") from None
        if self._setup.operator == TRANSFORM and find_spec("google.protobuf.descriptor") is None:
            raise EngineUnavailable(
                "spark's transform-with-state needs protobuf: pip install 'dataflow-conformance[spark-transform]'"
            )
        self._folder = Path(tempfile.mkdtemp(prefix="spark-"))
        sys.setswitchinterval(TURN)
        self._drivers = Drivers(self._setup, self._folder, java_home("spark", self._folder))
        self._lanes = [Lane(self._drivers, attempts) for attempts in (self._setup.attempts, ONCE)]
        self._lanes[0].driver()
        self._info = EngineInfo("spark", pyspark, self._setup.settings)
        return Description(self._info, Capabilities(failures=self._failures(), holds=False), batch=BATCH)

    def _failures(self) -> list[str]:
        """What can be made to happen. Executors of a cluster that is not ours can only be reached from within."""
        workers = ["snapshot", "commit"] if self._setup.master == "local-cluster" else []
        return [
            "crash",
            "restart",
            "kill:coordinator",
            *(f"kill:worker:{phase}" for phase in ["processing", *workers]),
        ]

    def run(self, jobs: Sequence[RunRequest]) -> Iterator[Observations]:
        together = groups(jobs, self._setup)
        begin = partial(self._begun, crowd=min(len(together), AT_ONCE * len(self._lanes)))
        with closing(finished(self._lanes, together, begin)) as queries:
            seen: dict[int, Observations] = {}
            for job in jobs:
                while id(job) not in seen:
                    seen |= self._observed(next(queries))
                yield seen.pop(id(job))

    def shares(self, case: Case) -> bool:
        """Whether a case can share its query with others."""
        return len(groups([RunRequest(case), RunRequest(case)], self._setup)) == 1

    def _begun(self, lane: Lane, group: Group, *, crowd: int) -> Running:
        """A query that runs, in a crowd whose members are in each other's way, which is not to look like a stall."""
        assert self._folder is not None  # noqa: S101 - it was started
        query = Query(self._folder / str(next(self._queries)), group, self._setup)
        patience = crowd * group.jobs[0].seconds * (1 + (len(group.jobs) - 1) / 10)
        return Running(query, lane, patience)

    def _observed(self, query: Query) -> dict[int, Observations]:
        found = query.observations(self._info)
        shutil.rmtree(query.folder, ignore_errors=True)
        return dict(zip(map(id, query.group.jobs), found, strict=True))

    def stop(self) -> None:
        if self._drivers is not None:
            self._drivers.end()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
