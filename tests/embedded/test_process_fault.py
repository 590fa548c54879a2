"""The fault of an attempt: where it happens, and the evidence of it."""

import pytest

from conformance.adapters.embedded.attempt import Attempt
from conformance.adapters.embedded.process_fault import plan_fault
from conformance.adapters.faults import EvidenceLog, InjectedCrash, TaskPosition
from conformance.case import BORDER, Case, Crash, Graph, Kill, Restart, Task
from conformance.programs import Sum

GRAPH = Graph(("in",), (Task("t", ("in",), "middle", Sum()), Task("u", ("middle",), "out", Sum())))


def case(*failures):
    return Case(GRAPH, {"in": ((1, 2), (3, 4), ())}, failures)


@pytest.fixture
def evidence(tmp_path):
    return EvidenceLog(str(tmp_path))


@pytest.fixture
def sent_signals(monkeypatch):
    """The signals that would have been sent."""
    sent = []
    monkeypatch.setattr(
        "conformance.adapters.embedded.process_fault.os.kill", lambda pid, number: sent.append((pid, number))
    )
    return sent


def test_a_crash_happens_at_its_event_of_its_epoch_after_its_evidence(evidence):
    fault = plan_fault(case(Crash("t", 2, 1)), 0, 0, evidence)
    for position in (TaskPosition("u", 2, 1), TaskPosition("t", 1, 1), TaskPosition("t", 2, 0)):
        fault.before(position)
    assert not evidence.has(0)
    with pytest.raises(InjectedCrash):
        fault.before(TaskPosition("t", 2, 1))
    assert evidence.read(0).description.startswith("an exception in t in epoch 2, before event 1")


@pytest.mark.parametrize("event", [BORDER, 0, 7])
def test_a_crash_beyond_the_last_event_happens_at_the_border(evidence, event):
    with pytest.raises(InjectedCrash, match="before its border"):
        plan_fault(case(Crash("t", 3, event)), 0, 0, evidence).before(TaskPosition("t", 3, 0, is_border=True))


def test_a_crash_whose_event_has_passed_waits_for_a_later_attempt(evidence):
    plan_fault(case(Crash("t", 2, 0)), 0, 0, evidence).before(TaskPosition("t", 2, 2, is_border=True))
    assert not evidence.has(0)


def test_the_position_of_a_kill_follows_from_case_and_seed(evidence):
    kill = case(Kill("worker", 2))
    positions = {(fault.task, fault.event) for fault in (plan_fault(kill, 0, seed, evidence) for seed in range(60))}
    assert positions == {(task, event) for task in "tu" for event in (0, 1, 2, BORDER)}
    assert plan_fault(kill, 0, 5, evidence) == plan_fault(kill, 0, 5, evidence)


def test_a_kill_while_processing_happens_at_its_position(evidence, sent_signals):
    fault = plan_fault(case(Kill("worker", 2)), 0, 0, evidence)
    fault.before(TaskPosition(fault.task, 1, 2, is_border=True))
    assert sent_signals == []
    for handled in range(3):
        fault.before(TaskPosition(fault.task, 2, handled))
    fault.before(TaskPosition(fault.task, 2, 3, is_border=True))
    assert len(sent_signals) == 1
    assert f" in {fault.task} in epoch 2, before " in evidence.read(0).description


def test_a_kill_in_snapshot_waits_until_its_task_is_to_be_saved(evidence, sent_signals):
    fault = plan_fault(case(Kill("worker", 2, "snapshot")), 0, 0, evidence)
    other = "tu".replace(fault.task, "")
    fault.before(TaskPosition(fault.task, 2, 0))
    fault.before_snapshot(other, 2)
    fault.before_snapshot(fault.task, 1)
    fault.during_recovery(2, "something")
    assert sent_signals == []
    fault.before_snapshot(fault.task, 2)
    assert len(sent_signals) == 1
    assert "to be saved at the end of epoch 2" in evidence.read(0).description


def test_a_kill_in_recovery_needs_an_earlier_attempt(tmp_path, evidence, sent_signals):
    killed = case(Kill("worker", 2, "recovery"))
    fault = plan_fault(killed, 0, 0, evidence)
    Attempt(0, tmp_path, killed, frozenset(), 3, 0, fault).during_recovery(2, "a task")
    second = Attempt(1, tmp_path, killed, frozenset(), 3, 0, fault)
    second.during_recovery(1, "a task")
    assert sent_signals == []
    second.during_recovery(2, "a task")
    assert len(sent_signals) == 1


def test_a_restart_is_no_fault_of_the_process(evidence, sent_signals):
    fault = plan_fault(case(Restart(2)), 0, 0, evidence)
    fault.before(TaskPosition(fault.task, 2, 0, is_border=True))
    fault.before_snapshot(None, 2)
    fault.during_recovery(2, "a task")
    assert sent_signals == []
