"""
Who runs what, and when: on each driver first the queries that leave it alone, a few at a time, then those that kill it.

So a driver that is killed was of use before, and whoever has to finish the query is the next one's victim: there are
as many drivers as are killed, and one more for each lane.
"""

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from time import monotonic, sleep
from typing import TypeAlias

from conformance.adapters.spark.drivers import Lane
from conformance.adapters.spark.query import Query
from conformance.adapters.spark.query_supervisor import Running
from conformance.adapters.spark.schedule import Group

AT_ONCE = 3
"""Queries that share a driver at a time."""

LOOK = 0.05
"""Seconds between two looks at what is committed."""

LOOK_CLOSELY = 0.02
"""The same, where somebody is going to be killed."""

WATCH = 0.001
"""Seconds between two looks at whether this is the moment to kill."""

Begins: TypeAlias = Callable[[Lane, Group], Running]


class Waiting:
    """What is still to be run. Each lane takes what it can run."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self._left = list(groups)
        self._lock = threading.Lock()
        self.given_up = False

    def take(self, attempts: int, *, violent: bool) -> Group | None:
        """The next one for a lane, if there is any."""
        with self._lock:
            for place, group in enumerate(self._left):
                if group.is_violent == violent and group.suits(attempts):
                    return self._left.pop(place)
        return None

    def give_up(self) -> None:
        """Nobody waits any more."""
        with self._lock:
            self._left.clear()
            self.given_up = True


def finished(lanes: Sequence[Lane], groups: Sequence[Group], begin: Begins) -> Generator[Query]:
    """Each query when it is over."""
    waiting = Waiting(groups)
    over: SimpleQueue[Query | Exception] = SimpleQueue()

    def run(lane: Lane) -> None:
        try:
            for query in _queries(lane, waiting, begin):
                over.put(query)
        except Exception as error:  # noqa: BLE001 - it is raised where somebody waits
            over.put(error)

    with ThreadPoolExecutor(len(lanes)) as threads:
        for lane in lanes:
            threads.submit(run, lane)
        try:
            for _ in groups:
                done = over.get()
                if isinstance(done, Exception):
                    raise done
                yield done
        finally:
            waiting.give_up()


def _queries(lane: Lane, waiting: Waiting, begin: Begins) -> Iterator[Query]:
    """What one lane runs."""
    running: list[Running] = []
    while not waiting.given_up:
        while len(running) < AT_ONCE and (group := waiting.take(lane.attempts, violent=False)) is not None:
            running.append(begin(lane, group))
        if not running:
            break
        for each in running:
            each.step()
        for each in [each for each in running if each.is_over]:
            running.remove(each)
            each.end()
            yield each.query
        sleep(LOOK)
    for each in running:
        each.end()  # Nobody waits for it.
    while (group := waiting.take(lane.attempts, violent=True)) is not None:
        alone = begin(lane, group)
        while not alone.is_over and not waiting.given_up:
            alone.step()
            _watch(alone)
        alone.end()
        yield alone.query


def _watch(running: Running) -> None:
    """Somebody is going to be killed, and that needs somebody who watches all the time."""
    until = monotonic() + LOOK_CLOSELY
    while monotonic() < until:
        running.watch()
        sleep(WATCH)
