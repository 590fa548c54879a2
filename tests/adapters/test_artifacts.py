"""The files that an engine leaves of a run, handed over or deleted; and the log of what an adapter does."""

import logging
import re
import sys

import pytest

from conformance.adapters.action_log import ACTION_LOG, PARENT, start_action_log
from conformance.adapters.artifacts import discard
from conformance.adapters.stdio import Stdio
from conformance.adapters.supervisor import ARTIFACTS
from conformance.codec import digest
from conformance.engine import RunRequest
from conformance.errors import EngineFailed
from conformance.generators import corpus
from tests import miniatures

COMMAND = [sys.executable, "-P", miniatures.__file__]
REQUESTS = [RunRequest(case) for case in list(corpus().values())[:2]]


@pytest.fixture
def run_folder(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "sink").write_text("rows")
    return folder


def test_a_folder_is_deleted_if_artifacts_are_not_kept(run_folder, monkeypatch):
    monkeypatch.delenv(ARTIFACTS, raising=False)
    discard(run_folder, REQUESTS)
    assert not run_folder.exists()


def test_a_folder_is_handed_over_with_its_cases_and_logs(run_folder, tmp_path, monkeypatch):
    suite = tmp_path / "suite"
    suite.mkdir()
    log = tmp_path / "worker.log"
    log.write_text("hello")
    monkeypatch.setenv(ARTIFACTS, str(suite))
    discard(run_folder, REQUESTS, [log, tmp_path / "missing.log"])
    (parcel,) = suite.iterdir()
    assert (parcel / "files" / "sink").read_text() == "rows"
    assert (parcel / "logs" / "worker.log").read_text() == "hello"
    assert (parcel / "cases").read_text().split() == [digest(request.case) for request in REQUESTS]
    assert log.exists()
    assert not run_folder.exists()


def test_a_folder_that_cannot_be_handed_over_is_deleted(run_folder, tmp_path, monkeypatch):
    monkeypatch.setenv(ARTIFACTS, str(tmp_path / "missing"))
    discard(run_folder, REQUESTS)
    assert not run_folder.exists()


@pytest.mark.parametrize("way", ["exit", "garbage"])
def test_the_temporary_folder_of_a_failed_engine_is_handed_over(tmp_path, way):
    engine = Stdio([], command=[*COMMAND, way, "1"], environment={ARTIFACTS: str(tmp_path)})
    engine.start()
    with pytest.raises(EngineFailed) as failed:
        list(engine.run(REQUESTS[:1]))
    assert failed.value.artifacts is not None
    assert failed.value.artifacts.parent == tmp_path
    assert failed.value.artifacts.is_dir()


def test_the_temporary_folder_of_a_stopped_engine_is_deleted(tmp_path):
    engine = Stdio([], command=[*COMMAND, "exit", "99"], environment={ARTIFACTS: str(tmp_path)})
    engine.start()
    engine.stop()
    assert list(tmp_path.iterdir()) == []


def test_actions_are_logged_with_utc_times(tmp_path, monkeypatch):
    monkeypatch.setenv(ACTION_LOG, str(tmp_path / "adapter.log"))
    logger = logging.getLogger(PARENT)
    for name, value in (("handlers", []), ("level", logging.INFO), ("propagate", True)):
        monkeypatch.setattr(logger, name, value)
    start_action_log()
    assert not (tmp_path / "adapter.log").exists(), "nothing was logged"
    logging.getLogger(f"{PARENT}.mine").info("killed %s", "the worker")
    logger.handlers[0].close()
    line = (tmp_path / "adapter.log").read_text()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z mine killed the worker\n", line)
