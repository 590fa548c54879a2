"""Progress of a campaign: a status that appears also while nothing happens, and an estimate that is no guess."""

import time

import pytest

from conformance.campaign.events import GaveUp, Judged
from conformance.campaign.tally import Tally
from conformance.cli import progress
from conformance.cli.progress import FEW, Lines, Throughput


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests set."""
    now = [0.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    return now


def ticked(times):
    rate = Throughput()
    for _ in range(times):
        rate.tick()
    return rate


def test_the_remaining_time_is_shown_after_a_quarter_of_the_cases(clock):
    rate = ticked(20)
    clock[0] = 60
    rate.tick()
    assert rate.remaining(85) == ""
    assert rate.remaining(84) == "about 4:00 left"
    assert rate.remaining(0) == ""


def test_the_first_cases_are_no_measure(clock):
    rate = ticked(FEW - 1)
    clock[0] = 60
    rate.tick()
    assert rate.remaining(4) == "about 0:24 left"
    assert ticked(FEW - 1).remaining(4) == ""


def test_a_silent_engine_gets_no_estimate(clock):
    rate = ticked(50)
    clock[0] = 50
    rate.tick()
    clock[0] += 2
    assert rate.remaining(50) == "about 0:51 left"
    clock[0] += 2
    assert rate.remaining(50) == ""


def test_slow_last_cases_do_not_multiply_the_remaining_time(clock):
    rate = ticked(100)
    clock[0] = 30
    for _ in range(8):
        clock[0] += 10
        rate.tick()
    assert rate.remaining(12) == "about 0:12 left"


def test_a_line_appears_while_an_engine_is_silent(monkeypatch, capsys):
    monkeypatch.setattr(progress, "INTERVAL", 0.05)
    with Lines() as lines:
        lines.start("slow")
        while "slow: starting; 0:00 so far" not in capsys.readouterr().err:
            time.sleep(0.01)
        lines.begin(100)
        tally = Tally()
        tally.add(Judged(0, "one", "0" * 64, "conforms"))
        lines.follow(tally.judged[0], tally)
        while "1 of 100 cases in 0:00; 1 conforms" not in (printed := capsys.readouterr().err):
            time.sleep(0.01)
        lines.follow(GaveUp("it is gone"), tally)
        while "given up: it is gone; 0:00 so far" not in printed:
            time.sleep(0.01)
            printed += capsys.readouterr().err
    assert all(line.startswith("slow: ") for line in printed.splitlines())
