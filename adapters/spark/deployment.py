"""Spark on one master: its drivers, and the queries that run on them."""

from collections.abc import Generator, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path

from conformance.adapters.spark.driver_pool import CONCURRENT_QUERIES, run_groups
from conformance.adapters.spark.driver_slots import DriverLauncher, DriverSlot
from conformance.adapters.spark.query import Query
from conformance.adapters.spark.query_supervisor import QuerySupervisor
from conformance.adapters.spark.schedule import QueryGroup, group_requests
from conformance.adapters.spark.setup import ONCE, SparkSetup
from conformance.engine import RunRequest, batch_seconds


class SparkDeployment:
    """The drivers of one master, in a folder of their own."""

    def __init__(self, setup: SparkSetup, folder: Path, java: Mapping[str, str]) -> None:
        folder.mkdir()
        self._setup = setup
        self._folder = folder
        self._launcher = DriverLauncher(setup, folder, java)
        self._slots = [DriverSlot(self._launcher, attempts) for attempts in (setup.attempts, ONCE)]
        self._query_numbers = count()

    def warm_up(self) -> None:
        """Start the first driver, and wait until it is ready."""
        self._slots[0].driver()

    def run(self, requests: Sequence[RunRequest]) -> Generator[Query]:
        """Run requests, and yield each query when it ends."""
        groups = group_requests(requests, self._setup)
        concurrent = min(len(groups), CONCURRENT_QUERIES * len(self._slots))
        return run_groups(self._slots, groups, partial(self._start_query, concurrent=concurrent))

    def _start_query(self, slot: DriverSlot, group: QueryGroup, *, concurrent: int) -> QuerySupervisor:
        """Start a query. Its timeout grows with the number of cases and of concurrent queries, which slow it down."""
        query = Query(self._folder / str(next(self._query_numbers)), group, self._setup)
        timeout = batch_seconds(group.requests[0].seconds, len(group.requests))
        return QuerySupervisor(query, slot, concurrent * timeout)

    def stop(self) -> None:
        """End all drivers."""
        self._launcher.end_all()
