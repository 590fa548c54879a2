"""A query on a driver, from its start to its end, through everything that happens to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from conformance.adapters.spark.batch_progress import Window
from conformance.adapters.spark.drivers import Lane
from conformance.adapters.spark.query import Query
from conformance.case import Kill

PATIENCE = 5
"""So many times a query may end for no reason that we know of."""


class Running:
    """
    A query, and who looks after it: somebody who starts it again when it has ended, on another driver if need be.

    Nothing else is done for it: what Spark makes of what is durable is Spark's.
    """

    def __init__(self, query: Query, lane: Lane, patience: float) -> None:
        self.query = query
        self._lane = lane
        self._ends = 0
        self._starts = 0
        self._recovers_from = 0
        self._has_begun = False
        self._until = monotonic() + patience
        self._start()

    @property
    def is_over(self) -> bool:
        """Whether there is nothing more to wait for."""
        return self.query.is_done or self.query.message is not None or monotonic() > self._until

    def _start(self) -> None:
        self.query.look()
        self._recovers_from = self.query.struck
        self._has_begun = False
        self._driver = self._lane.driver(dies=self.query.loses_its_driver)
        self._starts += 1
        self.query.begins()
        self._driver.query(self.query.folder)

    def step(self) -> None:
        """Look, and do what is due."""
        with self._standing_still():
            self.query.look()
        for said in self._driver.said(self.query.folder):
            self._has_begun |= "started" in said
            if "ended" in said:
                self._ended(str(said["ended"]))
        if self._driver.is_dead:
            self._start()
        if self.query.wants_restart():
            self._driver.stop_query(self.query.folder)
            self.query.restarted()
            self._start()

    @contextmanager
    def _standing_still(self) -> Iterator[None]:
        """Where a kill is near, the driver does not get on while we are at something that takes long."""
        awaited = self.query.awaited()
        is_near = awaited is not None and awaited[1] is not None and self.query.is_next(awaited[0].epoch)
        if is_near:
            self._driver.pause()
        try:
            yield
        finally:
            if is_near:
                self._driver.go_on()

    def _ended(self, why: str) -> None:
        """The query died with its last attempt; what is durable is where the next one starts."""
        self._ends += 1
        if self._ends > PATIENCE + sum(len(job.case.failures) for job in self.query.group.jobs):
            self.query.message = f"the query ended {self._ends} times, the last time with: {why.splitlines()[0]}"
        else:
            self._start()

    def watch(self) -> None:
        """Kill what is to be killed, if this is the moment. To be called as often as can be."""
        awaited = self.query.awaited()
        if awaited is None or self._driver.is_dead:
            return
        kill, window = awaited
        if window is None:
            if self.query.is_due and self._has_begun and self._starts > 1 and self._recovers_from == self.query.struck:
                self._kill_driver(kill, "it had just begun to recover")
        elif self.query.is_next(kill.epoch):
            # From here on the driver gets on by a millisecond at a time, and stands still while we look.
            self._driver.pause()
            if not self.query.is_due:
                self.query.look()
            if self.query.is_due and self.query.is_open(window, kill.epoch):
                self._strike(kill, window)
            self._driver.go_on()

    def _strike(self, kill: Kill, window: Window) -> None:
        if kill.target == "coordinator":
            self._kill_driver(kill, window.words, window)
        elif (victim := self._driver.kill_an_executor()) is not None:
            self.query.killed(f"SIGKILL of executor {victim} in epoch {kill.epoch}: {window.words}")

    def _kill_driver(self, kill: Kill, words: str, window: Window | None = None) -> None:
        self._driver.kill()
        if window is None or self.query.is_open(window, kill.epoch):
            self.query.killed(f"SIGKILL of the driver in epoch {kill.epoch}: {words}")

    def end(self) -> None:
        """Stop it, and look a last time."""
        self._driver.stop_query(self.query.folder)
        self.query.look(last=True)
