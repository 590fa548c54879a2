"""What is held back for a kill, and what is not."""

import pytest
from attrs import evolve

from conformance.adapters.flink.control import Desk, Progress
from conformance.case import Crash, Kill, Partition
from conformance.engine import RunRequest
from tests.flink.struck import CASE

pytestmark = pytest.mark.flink


def violence(tmp_path, *failures, struck=0):
    """Of a case with these failures, so many of which have struck; there is no cluster, and nobody needs it."""
    from conformance.adapters.flink.checkpoints import Checkpoints  # noqa: PLC0415 - only here is Flink there for sure
    from conformance.adapters.flink.committed import Committed  # noqa: PLC0415
    from conformance.adapters.flink.job import placed  # noqa: PLC0415
    from conformance.adapters.flink.violence import Violence  # noqa: PLC0415

    job = RunRequest(evolve(CASE, failures=failures))
    desk = Desk(str(tmp_path), 0)
    there = placed(desk, job, {}, parallel=False)
    made = Violence(job, there, Progress(desk), None, Checkpoints(None, Committed(tmp_path)))
    made._number = struck  # noqa: SLF001 - a step would want a cluster
    return made


def test_a_case_without_kills_is_left_in_peace(tmp_path):
    peaceful = violence(tmp_path, Crash("first", 2, 0))
    peaceful.step(0, 1)
    assert not peaceful.holds_back(2)
    assert not peaceful.holds("borders", 2)


@pytest.mark.parametrize("failure", [Kill("worker", 2), Kill("coordinator", 2), Partition("worker", 2, 1)])
def test_no_checkpoint_is_asked_for_before_somebody_is_hit_who_is_to_be_before(tmp_path, failure):
    armed = violence(tmp_path, failure)
    assert [armed.holds_back(epoch) for epoch in (1, 2, 3)] == [False, True, False]
    assert armed.holds("borders", 2)
    assert not violence(tmp_path, failure, struck=1).holds_back(2)


@pytest.mark.parametrize("phase", ["snapshot", "commit"])
def test_a_checkpoint_is_asked_for_when_a_brake_stands_still(tmp_path, phase):
    armed = violence(tmp_path, Kill("worker", 2, phase))
    assert armed.holds_back(2)
    assert armed.holds("brakes", 0)


def test_nothing_waits_for_a_kill_in_recovery_that_has_nothing_to_recover_from(tmp_path):
    assert not violence(tmp_path, Kill("worker", 2, "recovery")).holds_back(2)


def test_a_standby_is_there_only_for_those_whose_workers_are_killed():
    from conformance.adapters.flink.violence import has_standby  # noqa: PLC0415

    def share(failure):
        return sum(has_standby(RunRequest(evolve(CASE, failures=(failure,)), seed=seed)) for seed in range(200)) / 200

    assert share(Kill("coordinator", 1)) == share(Crash("first", 1, 0)) == 0
    assert 0.3 < share(Kill("worker", 1)) < 0.7
