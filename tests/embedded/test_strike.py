"""What an attempt dies of, and when."""

import pytest

from conformance.adapters.embedded.attempt import Attempt
from conformance.adapters.embedded.strike import Injected, strike
from conformance.case import BORDER, Case, Crash, Graph, Kill, Restart, Task
from conformance.programs import Sum

GRAPH = Graph(("in",), (Task("t", ("in",), "middle", Sum()), Task("u", ("middle",), "out", Sum())))


def case(*failures):
    return Case(GRAPH, {"in": ((1, 2), (3, 4), ())}, failures)


@pytest.fixture
def killed(monkeypatch):
    """SIGKILL, noted instead of sent."""
    sent = []
    monkeypatch.setattr("conformance.adapters.embedded.strike.os.kill", lambda pid, number: sent.append((pid, number)))
    return sent


def test_a_crash_strikes_at_its_event_of_its_epoch_and_says_so_first(tmp_path):
    found = strike(case(Crash("t", 2, 1)), 0, 0, tmp_path / "0")
    for task, epoch, place in (("u", 2, 1), ("t", 1, 1), ("t", 2, 0)):
        found.at(task, epoch, place, place)
    assert not (tmp_path / "0").exists()
    with pytest.raises(Injected):
        found.at("t", 2, 1, 1)
    assert (tmp_path / "0").read_text() == "an exception in t, epoch 2, before event 1"


@pytest.mark.parametrize("event", [BORDER, 0, 7])
def test_a_crash_beyond_the_last_event_strikes_at_the_border(tmp_path, event):
    with pytest.raises(Injected, match="before its border"):
        strike(case(Crash("t", 3, event)), 0, 0, tmp_path / "0").at("t", 3, BORDER, 0)


def test_a_crash_whose_event_has_passed_waits_for_a_later_attempt(tmp_path):
    strike(case(Crash("t", 2, 0)), 0, 0, tmp_path / "0").at("t", 2, BORDER, 2)
    assert not (tmp_path / "0").exists()


def test_where_a_kill_strikes_follows_from_the_case_and_the_seed_and_varies(tmp_path):
    kill = case(Kill("worker", 2))
    places = {(found.task, found.event) for found in (strike(kill, 0, seed, tmp_path / "0") for seed in range(60))}
    assert places == {(task, event) for task in "tu" for event in (0, 1, 2, BORDER)}
    assert strike(kill, 0, 5, tmp_path / "0") == strike(kill, 0, 5, tmp_path / "0")


def test_a_kill_in_snapshot_waits_until_its_task_is_to_be_saved(tmp_path, killed):
    found = strike(case(Kill("worker", 2, "snapshot")), 0, 0, tmp_path / "0")
    other = "tu".replace(found.task, "")
    found.at(found.task, 2, 0, 0)
    found.in_snapshot(other, 2)
    found.in_snapshot(found.task, 1)
    found.in_recovery(2, "something")
    assert killed == []
    found.in_snapshot(found.task, 2)
    assert len(killed) == 1
    assert "to be saved at the end of epoch 2" in (tmp_path / "0").read_text()


def test_a_kill_in_recovery_needs_something_to_recover_from(tmp_path, killed):
    asked = case(Kill("worker", 2, "recovery"))
    found = strike(asked, 0, 0, tmp_path / "0")
    Attempt(0, tmp_path, asked, frozenset(), 3, 0, found).restores(2, "a task")
    again = Attempt(1, tmp_path, asked, frozenset(), 3, 0, found)
    again.restores(1, "a task")
    assert killed == []
    again.restores(2, "a task")
    assert len(killed) == 1


def test_who_is_to_be_restarted_dies_of_nothing(tmp_path, killed):
    found = strike(case(Restart(2)), 0, 0, tmp_path / "0")
    found.at(found.task, 2, BORDER, 0)
    found.in_snapshot(None, 2)
    found.in_recovery(2, "a task")
    assert killed == []
