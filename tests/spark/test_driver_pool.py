"""Who takes what, without Spark."""

from types import SimpleNamespace

import pytest

from conformance.adapters.spark.driver_pool import Waiting, finished
from conformance.adapters.spark.schedule import Group
from conformance.adapters.spark.setup import ONCE, RETRIED

LANES = [SimpleNamespace(attempts=RETRIED), SimpleNamespace(attempts=ONCE)]


class Begun:
    """A query that is over at once, if it does not fail to begin."""

    is_over = True

    def __init__(self, lane, group, log):
        log.append((lane.attempts, group))
        self.query = group

    def step(self):
        """There is nothing to do."""

    def watch(self):
        """There is nobody to kill."""

    def end(self):
        """There is nothing to stop."""


def test_each_lane_takes_what_it_can_run_and_either_what_needs_no_attempts():
    retried, once, either = Group((), RETRIED), Group((), ONCE), Group((), None)
    waiting = Waiting([retried, once, either])
    assert [waiting.take(ONCE, violent=False) for _ in range(3)] == [once, either, None]
    assert [waiting.take(RETRIED, violent=False) for _ in range(2)] == [retried, None]


def test_a_driver_is_killed_when_all_that_leaves_it_alone_is_done():
    log = []
    groups = [Group((), RETRIED, is_violent=True), Group((), RETRIED), Group((), RETRIED, is_violent=True)]
    found = list(finished(LANES[:1], groups, lambda lane, group: Begun(lane, group, log)))
    assert [group.is_violent for _, group in log] == [False, True, True]
    assert found == [groups[1], groups[0], groups[2]]


def test_every_query_is_finished_once_whichever_lane_it_is_on():
    log = []
    groups = [Group((), attempts, is_violent) for attempts in (RETRIED, ONCE, None) for is_violent in (False, True)]
    found = list(finished(LANES, groups * 5, lambda lane, group: Begun(lane, group, log)))
    assert sorted(map(repr, found)) == sorted(map(repr, groups * 5))
    assert all(group.suits(attempts) for attempts, group in log)


def test_what_goes_wrong_on_a_lane_is_raised_where_somebody_waits():
    def begin(lane, _group):
        raise RuntimeError(f"no driver for {lane.attempts}")

    with pytest.raises(RuntimeError, match="no driver for 1000"):
        list(finished(LANES, [Group((), RETRIED)], begin))


def test_when_nobody_waits_any_more_nothing_else_is_begun():
    log = []

    class Slow(Begun):
        @property
        def is_over(self):
            return len(log) == 1

    groups = [Group((), RETRIED, is_violent=True)] * 9
    queries = finished(LANES[:1], groups, lambda lane, group: Slow(lane, group, log))
    next(queries)
    queries.close()
    assert len(log) < 9
