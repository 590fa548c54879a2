"""Spark Structured Streaming as an engine under test."""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from time import monotonic, sleep

from adapters.jvm import java_home
from adapters.spark.drivers import Drivers
from adapters.spark.run import Query
from adapters.spark.running import Running
from adapters.spark.schedule import Group, groups
from adapters.spark.setup import TRANSFORM, set_up
from conformance.case import Case
from conformance.engine import Capabilities, Description, Job
from conformance.errors import EngineUnavailable
from conformance.observation import EngineInfo, Observations

BATCH = 150
"""Cases that are given to it at once."""

AT_ONCE = 3
"""Queries that share a driver at a time."""

VIOLENT = 2
"""Queries at a time that have a driver each, to be killed."""

LOOK = 0.02
"""Seconds between two looks at what is committed."""

WATCH = 0.001
"""Seconds between two looks at whether this is the moment to kill."""

TURN = 0.0005
"""Seconds after which a thread that watches gets its turn, whatever another is at."""


class Spark:
    """`spark`: a task is a group with state of its own in Spark's state store, an epoch a micro-batch."""

    def __init__(self, settings: Sequence[str]) -> None:
        self._setup = set_up(settings)
        self._folder: Path | None = None
        self._drivers: Drivers | None = None
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
        self._drivers.share(self._setup.attempts)
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

    def run(self, jobs: Sequence[Job]) -> Iterator[Observations]:
        finished = self._finished(groups(jobs, self._setup))
        seen: dict[int, Observations] = {}
        for job in jobs:
            while id(job) not in seen:
                seen |= self._observed(next(finished))
            yield seen.pop(id(job))

    def shares(self, case: Case) -> bool:
        """Whether a case can share its query with others."""
        return len(groups([Job(case), Job(case)], self._setup)) == 1

    @property
    def _started(self) -> Drivers:
        assert self._drivers is not None  # noqa: S101 - it was started
        return self._drivers

    def _finished(self, waiting: Sequence[Group]) -> Iterator[Query]:
        """A few queries at a time; each is given when it is over."""
        # They are in each other's way, which is not to look like a stall.
        share = AT_ONCE + VIOLENT if len(waiting) > 1 else 1
        left = [group for group in reversed(waiting) if not group.is_violent]
        running: list[Running] = []
        with ThreadPoolExecutor(VIOLENT) as threads:
            violent = [threads.submit(self._alone, group, share) for group in waiting if group.is_violent]
            while left or running or violent:
                while left and len(running) < AT_ONCE:
                    running.append(self._begun(left.pop(), share))
                for each in running:
                    each.step()
                for each in [each for each in running if each.is_over]:
                    running.remove(each)
                    each.end()
                    yield each.query
                for done in [each for each in violent if each.done()]:
                    violent.remove(done)
                    yield done.result()
                sleep(LOOK)

    def _alone(self, group: Group, share: int) -> Query:
        """A query in which somebody is going to be killed, and that needs somebody who watches all the time."""
        running = self._begun(group, share)
        while not running.is_over:
            running.step()
            until = monotonic() + LOOK
            while monotonic() < until:
                running.watch()
                sleep(WATCH)
        running.end()
        return running.query

    def _begun(self, group: Group, share: int) -> Running:
        assert self._folder is not None  # noqa: S101 - it was started
        query = Query(self._folder / str(next(self._queries)), group, self._setup)
        patience = share * group.jobs[0].seconds * (1 + (len(group.jobs) - 1) / 10)
        return Running(query, self._started, patience)

    def _observed(self, query: Query) -> dict[int, Observations]:
        found = query.observations(self._info)
        shutil.rmtree(query.folder, ignore_errors=True)
        return dict(zip(map(id, query.group.jobs), found, strict=True))

    def stop(self) -> None:
        if self._drivers is not None:
            self._drivers.end()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
