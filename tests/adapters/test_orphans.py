"""Orphans of killed runs, and their owners."""

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
from conformance.adapters.supervisor import OWNER, OWNER_FILE, identity
from tests import miniatures


@pytest.fixture
def sleeper():
    """A process that does nothing."""
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


def test_a_folder_whose_owner_lives_is_no_orphan(sleeper):
    assert not orphans.is_orphan(identity())
    assert not orphans.is_orphan(identity(sleeper.pid))


def test_a_folder_whose_owner_died_is_an_orphan(sleeper):
    its = identity(sleeper.pid)
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    assert psutil.Process(sleeper.pid).status() == psutil.STATUS_ZOMBIE
    assert orphans.is_orphan(its)
    sleeper.wait()
    assert orphans.is_orphan(its)


def test_a_reused_process_number_is_another_identity(sleeper):
    machine, number, begun = identity(sleeper.pid).split("/")
    assert orphans.is_orphan(f"{machine}/{number}/{int(begun.split('-')[0]) - 1}-{begun.split('-')[1]}")


@pytest.mark.parametrize("owner", ["", "nonsense", "a/b/c", "elsewhere/1/1", "/1/"])
def test_another_machines_processes_are_no_orphans(owner):
    assert not orphans.is_orphan(owner)


def test_only_orphaned_folders_are_removed(tmp_path, monkeypatch, sleeper):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    owners = {"conformance-theirs": identity(sleeper.pid), "conformance-mine": identity(), "other": "", "flink-x": ""}
    for name, owner in owners.items():
        (tmp_path / name).mkdir()
        if owner:
            (tmp_path / name / OWNER_FILE).write_text(owner)
    assert orphans.remove() == []
    sleeper.kill()
    sleeper.wait()
    assert orphans.remove() == [f"folder {tmp_path / 'conformance-theirs'}"]
    assert {each.name for each in tmp_path.iterdir()} == {"conformance-mine", "other", "flink-x"}


def test_the_next_engine_removes_the_orphans_of_a_killed_supervisor(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    command = f"{sys.executable} -P {miniatures.__file__} hang"
    killed = Stdio([command], log=tmp_path / "log")
    killed.start()
    (folder,) = tmp_path.glob("conformance-*/")
    left = subprocess.Popen(["sleep", "600"], env={**os.environ, OWNER: (folder / OWNER_FILE).read_text()})
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
