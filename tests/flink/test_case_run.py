"""A case that runs: who is to be restored."""

import pytest

from conformance.adapters.flink.control import Desk, Progress
from conformance.branches import split
from conformance.engine import RunRequest
from conformance.generators import corpus

pytestmark = pytest.mark.flink

STRUCK = 100.0


@pytest.fixture
def ran(tmp_path):
    """A case whose task `first` failed at that moment."""
    from conformance.adapters.flink.case_run import Ran  # noqa: PLC0415
    from conformance.adapters.flink.job import placed  # noqa: PLC0415 - only here is Flink there for sure

    desk, job = Desk(str(tmp_path), 0), RunRequest(corpus()["paper-observed-execution"])
    ran = Ran(job, placed(desk, job, {}, parallel=False), Progress(desk), gets_ahead=True)
    ran.progress.opened = dict.fromkeys(("first", "second", "third"), STRUCK - 1)
    ran.fails(STRUCK, ["first"])
    return ran


@pytest.fixture
def at(monkeypatch):
    """What time it is."""
    return lambda now: monkeypatch.setattr("conformance.adapters.flink.case_run.time", lambda: now)


def test_who_was_there_when_something_failed_is_restored_with_it(ran, at):
    at(STRUCK)
    assert ran.is_to_be_restored("third", STRUCK - 0.5)


def test_so_is_one_that_began_late_and_went_on_in_the_attempt_that_had_failed_already(ran, at):
    ran.progress.opened["third"] = STRUCK + 0.01
    at(STRUCK + 0.1)
    assert not ran.is_to_be_restored("third", STRUCK + 0.02), "it may be one of the next attempt, which is beginning"
    at(STRUCK + 0.5)
    assert ran.is_to_be_restored("third", STRUCK + 0.02)


def test_who_stands_still_in_the_next_attempt_is_not_disturbed(ran, at):
    ran.progress.opened |= {"first": STRUCK + 0.2, "third": STRUCK + 0.1}
    at(STRUCK + 5)
    assert not ran.is_to_be_restored("third", STRUCK + 0.3)


def test_branches_of_a_keyed_sum_stand_still_together_as_they_may_be_in_one_subtask(tmp_path):
    from conformance.adapters.flink.job import placed  # noqa: PLC0415

    job = RunRequest(split(corpus()["keyed-state-partly-restored"]))
    desk = Desk(str(tmp_path), 0)
    spread = placed(desk, job, {}, parallel=True)
    assert spread.with_company(["keys-2"]) == {"keys-0", "keys-1", "keys-2"}
    assert placed(desk, job, {}, parallel=False).with_company(["keys-2"]) == {"keys-2"}
