"""
Execution of query groups on a pool of driver slots.

Each slot first runs the queries that kill no JVM, a few at a time, and then the others one by one. So a driver does
useful work before it is killed, and the driver that finishes a query is the victim of the next one: the pool starts one
driver for each kill, and one more for each slot.
"""

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from time import monotonic, sleep
from typing import TypeAlias

from conformance.adapters.spark.driver_slots import DriverSlot
from conformance.adapters.spark.query import Query
from conformance.adapters.spark.query_supervisor import QuerySupervisor
from conformance.adapters.spark.schedule import QueryGroup

CONCURRENT_QUERIES = 3
"""Queries that share a driver at the same time."""

POLL_INTERVAL = 0.05
"""Seconds between two observations of the committed output."""

KILL_POLL_INTERVAL = 0.02
"""The same for a query that kills a JVM."""

WINDOW_POLL_INTERVAL = 0.001
"""Seconds between two checks whether a kill window is open."""

StartQuery: TypeAlias = Callable[[DriverSlot, QueryGroup], QuerySupervisor]


class PendingGroups:
    """The query groups that have not been started yet."""

    def __init__(self, groups: Sequence[QueryGroup]) -> None:
        self._groups = list(groups)
        self._lock = threading.Lock()
        self.is_cancelled = False

    def pop(self, attempts: int, *, kills_jvm: bool) -> QueryGroup | None:
        """Remove and return the next group for a slot whose drivers try a task so often, if there is one."""
        with self._lock:
            for index, group in enumerate(self._groups):
                if group.kills_jvm == kills_jvm and group.allows(attempts):
                    return self._groups.pop(index)
        return None

    def cancel(self) -> None:
        """Remove all groups, and tell the slots to stop their queries."""
        with self._lock:
            self._groups.clear()
            self.is_cancelled = True


def run_groups(slots: Sequence[DriverSlot], groups: Sequence[QueryGroup], start_query: StartQuery) -> Generator[Query]:
    """Run all groups, and yield each query when it ends."""
    pending = PendingGroups(groups)
    ended: SimpleQueue[Query | Exception] = SimpleQueue()

    def run(slot: DriverSlot) -> None:
        try:
            for query in _run_slot(slot, pending, start_query):
                ended.put(query)
        except Exception as error:  # noqa: BLE001 - raised in the thread that waits
            ended.put(error)

    with ThreadPoolExecutor(len(slots)) as threads:
        for slot in slots:
            threads.submit(run, slot)
        try:
            for _ in groups:
                query = ended.get()
                if isinstance(query, Exception):
                    raise query
                yield query
        finally:
            pending.cancel()


def _run_slot(slot: DriverSlot, pending: PendingGroups, start_query: StartQuery) -> Iterator[Query]:
    running: list[QuerySupervisor] = []
    while not pending.is_cancelled:
        while len(running) < CONCURRENT_QUERIES and (group := pending.pop(slot.attempts, kills_jvm=False)) is not None:
            running.append(start_query(slot, group))
        if not running:
            break
        for supervisor in running:
            supervisor.step()
        for supervisor in [each for each in running if each.is_over]:
            running.remove(supervisor)
            supervisor.end()
            yield supervisor.query
        sleep(POLL_INTERVAL)
    for supervisor in running:
        supervisor.end()
    while (group := pending.pop(slot.attempts, kills_jvm=True)) is not None:
        supervisor = start_query(slot, group)
        while not supervisor.is_over and not pending.is_cancelled:
            supervisor.step()
            _poll_kill_window(supervisor)
        supervisor.end()
        yield supervisor.query


def _poll_kill_window(supervisor: QuerySupervisor) -> None:
    """Poll the kill window continuously until the next observation is due."""
    deadline = monotonic() + KILL_POLL_INTERVAL
    while monotonic() < deadline:
        supervisor.kill_if_due()
        sleep(WINDOW_POLL_INTERVAL)
