"""The faults within Spark's tasks, without Spark."""

import pytest

from conformance.adapters.faults import InjectedCrash, TaskPosition
from conformance.adapters.spark import task_faults
from conformance.adapters.spark.task_faults import TaskFaults
from conformance.case import Crash, Kill, Restart

POSITION = TaskPosition("t", 1, 0)


@pytest.fixture
def faults(tmp_path):
    """Make the faults of a case."""

    def make(*failures, external=()):
        made = TaskFaults(str(tmp_path), 0, failures, frozenset(external))
        made.evidence.prepare()
        return made

    return make


@pytest.fixture
def killed(monkeypatch):
    """The processes that would have been killed."""
    processes = []
    monkeypatch.setattr(task_faults.os, "kill", lambda process, _: processes.append(process))
    monkeypatch.setattr(task_faults.time, "sleep", lambda _: None)
    return processes


def test_each_crash_happens_once_and_in_order(faults):
    crashes = faults(Crash("t", 1, 0), Crash("t", 1, 1))
    crashes.before(TaskPosition("t", 1, 1))
    for handled in (0, 1):
        with pytest.raises(InjectedCrash, match=f"t in epoch 1, before event {handled}"):
            crashes.before(TaskPosition("t", 1, handled))
    crashes.before(POSITION)


@pytest.mark.parametrize("failure", [Kill("worker", 2), Kill("coordinator", 1, "snapshot"), Restart(1)])
def test_tasks_inject_no_failure_of_another_epoch_or_phase(faults, killed, failure):
    faults(failure).before(POSITION)
    assert killed == []


def test_tasks_do_not_inject_external_kills(faults, killed):
    faults(Kill("worker", 1), external={0}).before(POSITION)
    assert killed == []


def test_a_worker_kill_kills_the_python_worker_once(faults, killed):
    kill = faults(Kill("worker", 1))
    kill.before(POSITION)
    kill.before(POSITION)
    assert killed == [task_faults.os.getpid()]
    description = kill.evidence.read(0).description
    assert description.startswith("SIGKILL of the Python worker of t in epoch 1, before event 0 (process ")
