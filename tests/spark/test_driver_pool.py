"""The order in which driver slots run query groups, and the launches of drivers, without Spark."""

import logging
from types import SimpleNamespace

import pytest

from conformance.adapters.spark import driver_slots
from conformance.adapters.spark.driver_pool import PendingGroups, run_groups
from conformance.adapters.spark.schedule import QueryGroup
from conformance.adapters.spark.setup import LOCAL, ONCE, RETRIED, SparkSetup

SLOTS = [SimpleNamespace(attempts=RETRIED), SimpleNamespace(attempts=ONCE)]


class EndedQuery:
    """The supervisor of a query that ends immediately."""

    is_over = True

    def __init__(self, slot, group, log):
        log.append((slot.attempts, group))
        self.query = group

    def step(self):
        """Do nothing."""

    def kill_if_due(self):
        """Kill nothing."""

    def end(self):
        """Stop nothing."""


def test_a_slot_runs_groups_whose_attempts_it_allows():
    retried, once, either = QueryGroup((), RETRIED), QueryGroup((), ONCE), QueryGroup((), None)
    pending = PendingGroups([retried, once, either])
    assert [pending.pop(ONCE, kills_jvm=False) for _ in range(3)] == [once, either, None]
    assert [pending.pop(RETRIED, kills_jvm=False) for _ in range(2)] == [retried, None]


def test_queries_that_kill_a_jvm_run_last():
    log = []
    groups = [QueryGroup((), RETRIED, kills_jvm=True), QueryGroup((), RETRIED), QueryGroup((), RETRIED, kills_jvm=True)]
    found = list(run_groups(SLOTS[:1], groups, lambda slot, group: EndedQuery(slot, group, log)))
    assert [group.kills_jvm for _, group in log] == [False, True, True]
    assert found == [groups[1], groups[0], groups[2]]


def test_every_query_ends_once_on_whichever_slot():
    log = []
    groups = [QueryGroup((), attempts, kills_jvm) for attempts in (RETRIED, ONCE, None) for kills_jvm in (False, True)]
    found = list(run_groups(SLOTS, groups * 5, lambda slot, group: EndedQuery(slot, group, log)))
    assert sorted(map(repr, found)) == sorted(map(repr, groups * 5))
    assert all(group.allows(attempts) for attempts, group in log)


def test_an_error_of_a_slot_is_raised_to_the_caller():
    def start_query(slot, _group):
        raise RuntimeError(f"no driver for {slot.attempts}")

    with pytest.raises(RuntimeError, match="no driver for 1000"):
        list(run_groups(SLOTS, [QueryGroup((), RETRIED)], start_query))


def test_no_query_starts_after_the_caller_has_stopped():
    log = []

    class Slow(EndedQuery):
        @property
        def is_over(self):
            return len(log) == 1

    groups = [QueryGroup((), RETRIED, kills_jvm=True)] * 9
    queries = run_groups(SLOTS[:1], groups, lambda slot, group: Slow(slot, group, log))
    next(queries)
    queries.close()
    assert len(log) < 9


def test_every_launch_of_a_driver_is_logged(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(driver_slots, "_imitate_home", lambda _: None)
    monkeypatch.setattr(driver_slots, "DriverProcess", lambda *_: SimpleNamespace(id=7, is_dead=False))
    caplog.set_level(logging.INFO)
    driver_slots.DriverLauncher(SparkSetup(master=LOCAL), tmp_path, {}).launch(ONCE)
    assert caplog.messages == ["driver 7: launched on local[2,1], attempts of a task: 1"]
