"""What is left of runs that were killed, and whose it is."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

from conformance.adapters import orphans, supervisor
from conformance.adapters.stdio import Stdio
from conformance.adapters.supervisor import MARK, OWNER, identity
from tests import miniatures


@pytest.fixture
def sleeper():
    """A process that does nothing."""
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


def test_what_somebody_has_who_is_there_is_no_leftover(sleeper):
    assert not orphans.is_orphan(identity())
    assert not orphans.is_orphan(identity(sleeper.pid))


def test_what_somebody_had_who_is_gone_is_one_and_a_zombie_is_gone(sleeper):
    its = identity(sleeper.pid)
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    assert psutil.Process(sleeper.pid).status() == psutil.STATUS_ZOMBIE
    assert orphans.is_orphan(its)
    sleeper.wait()
    assert orphans.is_orphan(its)


def test_a_number_that_somebody_else_has_now_is_not_taken_for_the_one_before(sleeper):
    machine, number, begun = identity(sleeper.pid).split("/")
    assert orphans.is_orphan(f"{machine}/{number}/{int(begun.split('-')[0]) - 1}-{begun.split('-')[1]}")


@pytest.mark.parametrize("owner", ["", "nonsense", "a/b/c", "elsewhere/1/1", "/1/"])
def test_what_is_another_machines_or_nobodys_is_left_alone(owner):
    assert not orphans.is_orphan(owner)


def test_folders_of_runs_that_were_killed_are_removed_and_no_others(tmp_path, monkeypatch, sleeper):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    owners = {"conformance-theirs": identity(sleeper.pid), "conformance-mine": identity(), "other": "", "flink-x": ""}
    for name, owner in owners.items():
        (tmp_path / name).mkdir()
        if owner:
            (tmp_path / name / MARK).write_text(owner)
    assert orphans.remove() == []
    sleeper.kill()
    sleeper.wait()
    assert orphans.remove() == [f"folder {tmp_path / 'conformance-theirs'}"]
    assert {each.name for each in tmp_path.iterdir()} == {"conformance-mine", "other", "flink-x"}


def test_when_even_the_guard_is_killed_the_next_engine_that_is_started_removes_what_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    command = f"{sys.executable} -P {miniatures.__file__} hang"
    killed = Stdio([command], log=tmp_path / "log")
    killed.start()
    (folder,) = tmp_path.glob("conformance-*/")
    left = subprocess.Popen(["sleep", "600"], env={**os.environ, OWNER: (folder / MARK).read_text()})
    (watching,) = [each for each in psutil.Process().children() if supervisor.__file__ in each.cmdline()]
    watching.send_signal(signal.SIGKILL)
    watching.wait()
    assert folder.exists()
    after = Stdio([command], log=tmp_path / "log")
    after.start()
    left.wait()
    assert not psutil.pid_exists(left.pid)
    assert not folder.exists()
    for engine in (after, killed):
        engine.stop()
    assert not list(Path(tmp_path).glob("conformance-*/"))
