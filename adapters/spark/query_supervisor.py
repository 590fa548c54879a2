"""Supervision of a streaming query from its start to its end, through all its failures."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from conformance.adapters.action_log import case_digests
from conformance.adapters.spark.batch_progress import KillWindow
from conformance.adapters.spark.driver_slots import DriverSlot
from conformance.adapters.spark.query import Query
from conformance.case import Kill

LOGGER = logging.getLogger("conformance.adapters.spark")

UNEXPLAINED_ENDS = 5
"""How often a query may end without an injected failure."""


class QuerySupervisor:
    """
    Restarts a query when it has ended, on another driver if necessary, and injects the kills of its driver.

    The supervisor does nothing else: recovery from durable state is left to Spark.
    """

    def __init__(self, query: Query, slot: DriverSlot, timeout: float) -> None:
        self.query = query
        self._slot = slot
        self._ends = 0
        self._starts = 0
        self._failures_at_start = 0
        self._is_started = False
        self._deadline = monotonic() + timeout
        LOGGER.info("query %s: cases %s", query.folder.name, case_digests(query.group.requests))
        self._start()

    @property
    def is_over(self) -> bool:
        """Whether the query is done, has failed, or has stalled."""
        return self.query.is_done or self.query.message is not None or monotonic() > self._deadline

    def _start(self) -> None:
        self.query.observe()
        self._failures_at_start = self.query.failures_observed
        self._is_started = False
        self._driver = self._slot.driver(expect_kill=self.query.expects_driver_kill)
        self._starts += 1
        self.query.begin_attempt()
        self._driver.start_query(self.query.folder)
        LOGGER.info("query %s: start %d on driver %d", self.query.folder.name, self._starts, self._driver.id)

    def step(self) -> None:
        """Observe the query; restart it if it has ended or if a case asks for a restart."""
        with self._paused_near_kill():
            self.query.observe()
        for message in self._driver.take_messages(self.query.folder):
            self._is_started |= "started" in message
            if "ended" in message:
                self._restart_ended(str(message["ended"]))
        if self._driver.is_dead:
            self._start()
        if self.query.is_restart_due():
            LOGGER.info("query %s: stopped for a restart", self.query.folder.name)
            self._driver.stop_query(self.query.folder)
            self.query.record_restart()
            self._start()

    @contextmanager
    def _paused_near_kill(self) -> Iterator[None]:
        """Pause the driver during a long operation if a kill window may open in the current micro-batch."""
        kill = self.query.next_external_kill()
        is_near = kill is not None and kill[1] is not None and self.query.is_in_next_batch(kill[0].epoch)
        if is_near:
            self._driver.pause()
        try:
            yield
        finally:
            if is_near:
                self._driver.resume()

    def _restart_ended(self, reason: str) -> None:
        """Restart a query that has ended by itself, unless it has ended too often."""
        self._ends += 1
        LOGGER.info("query %s: ended by itself: %s", self.query.folder.name, reason.partition("\n")[0])
        if self._ends > UNEXPLAINED_ENDS + sum(len(each.case.failures) for each in self.query.group.requests):
            self.query.message = f"the query ended {self._ends} times, the last time with: {reason.splitlines()[0]}"
        else:
            self._start()

    def kill_if_due(self) -> None:
        """Inject the next external kill if its window is open. The caller polls this continuously."""
        following = self.query.next_external_kill()
        if following is None or self._driver.is_dead:
            return
        kill, window = following
        if window is None:
            if self.query.is_kill_due and self._is_recovering():
                self._kill_driver(kill, "it had just begun to recover")
        elif self.query.is_in_next_batch(kill.epoch):
            # From now on the driver runs for a millisecond at a time, and is paused while its files are read.
            self._driver.pause()
            if not self.query.is_kill_due:
                self.query.observe()
            if self.query.is_kill_due and self.query.is_open(window, kill.epoch):
                self._kill(kill, window)
            self._driver.resume()

    def _is_recovering(self) -> bool:
        """Tell whether the query was started again, and nothing has failed since."""
        return self._is_started and self._starts > 1 and self._failures_at_start == self.query.failures_observed

    def _kill(self, kill: Kill, window: KillWindow) -> None:
        if kill.target == "coordinator":
            self._kill_driver(kill, window.description, window)
        elif (executor := self._driver.kill_executor()) is not None:
            self._record_kill(f"SIGKILL of executor {executor} in epoch {kill.epoch}: {window.description}")

    def _kill_driver(self, kill: Kill, moment: str, window: KillWindow | None = None) -> None:
        """Kill the driver; the files of the dead driver decide whether the window was still open."""
        self._driver.kill()
        if window is None or self.query.is_open(window, kill.epoch):
            self._record_kill(f"SIGKILL of the driver in epoch {kill.epoch}: {moment}")
        else:
            LOGGER.info("query %s: killed the driver when the window had closed", self.query.folder.name)

    def _record_kill(self, evidence: str) -> None:
        LOGGER.info("query %s: %s", self.query.folder.name, evidence)
        self.query.record_kill(evidence)

    def end(self) -> None:
        """Stop the query, and observe it for the last time."""
        self._driver.stop_query(self.query.folder)
        self.query.observe(last=True)
        LOGGER.info("query %s: over after %d starts", self.query.folder.name, self._starts)
