"""Which files of an engine a campaign keeps, and how they are copied."""

import json
import os
from pathlib import Path

import pytest

from conformance.adapters.artifacts import discard
from conformance.adapters.supervisor import ARTIFACTS
from conformance.campaign.artifact_copy import MANIFEST, copy_artifacts, sanitized
from conformance.campaign.artifacts import open_artifacts
from conformance.campaign.results import Results
from conformance.codec import digest
from conformance.engine import RunRequest
from conformance.generators import corpus

REQUESTS = [RunRequest(case) for case in list(corpus().values())[:3]]
ONE, TWO, THREE = (digest(request.case) for request in REQUESTS)


@pytest.fixture
def left(tmp_path):
    folder = tmp_path / "left"
    folder.mkdir()
    return folder


def copied(left, tmp_path, **options):
    """Copy a folder; give the copies by name, and the manifest's entries by file."""
    copy_artifacts(left, tmp_path / "kept", {"case": ONE}, **options)
    kept = {
        path.relative_to(tmp_path / "kept").as_posix(): path
        for path in (tmp_path / "kept").rglob("*")
        if path.is_file()
    }
    manifest = json.loads(kept.pop(MANIFEST).read_text())
    assert manifest["case"] == ONE
    return kept, {entry["file"]: entry for entry in manifest["files"]}


def test_regular_files_are_copied_and_links_and_pipes_listed(left, tmp_path):
    (left / "below").mkdir()
    (left / "below" / "data").write_text("rows")
    (left / "link").symlink_to("/etc/passwd")
    (left / "folder").symlink_to("/etc", target_is_directory=True)
    os.mkfifo(left / "pipe")
    kept, listed = copied(left, tmp_path)
    assert {name: path.read_text() for name, path in kept.items()} == {"below/data": "rows"}
    assert {name for name, entry in listed.items() if "kept" not in entry} == {"link", "folder", "pipe"}


@pytest.mark.parametrize("name", ["a\nb", "\x1b[31m", "-rf", ".x.part", "x" * 200, MANIFEST, "sp ace", "ü", "\udcff"])
def test_hostile_names_are_sanitized(left, tmp_path, name):
    (left / name).write_text("x")
    (left / f"{name[:100]}2").write_text("y")
    kept, listed = copied(left, tmp_path)
    assert sorted(path.read_text() for path in kept.values()) == ["x", "y"]
    assert all(each.isascii() and each.isprintable() and not each.startswith(".") for each in kept)
    assert name in listed


def test_different_names_stay_different():
    assert len({sanitized(name) for name in ("a b", "a\tb", "a_b", "a/b", "a?/b")}) == 5


def test_beyond_the_limit_logs_and_new_files_come_first(left, tmp_path):
    for number, name in enumerate(["old", "new", "worker.log", "large.log"]):
        (left / name).write_text(name[0] * (100 if name == "large.log" else 10))
        os.utime(left / name, (number, number) if name != "large.log" else (0, 0))
    kept, listed = copied(left, tmp_path, limit=60)
    assert {name: len(path.read_text()) for name, path in kept.items()} == {"worker.log": 10, "large.log": 50}
    assert listed["large.log"] == {"file": "large.log", "size": 100, "kept": "large.log", "bytes": 50}
    assert {name for name, entry in listed.items() if "kept" not in entry} == {"old", "new"}
    kept, _ = copied(left, tmp_path, limit=125)
    assert set(kept) == {"worker.log", "large.log", "new"}


def test_a_folder_without_files_is_not_kept(left, tmp_path):
    (left / "empty").mkdir()
    copy_artifacts(left, tmp_path / "kept", {})
    assert not (tmp_path / "kept").exists()


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    """Artifacts of a campaign, and a way to hand files over to it as an adapter does."""
    results = Results(tmp_path / "results")
    results.make()

    def begin(keep):
        return open_artifacts(results, keep)

    def hand_over(artifacts, requests, text="rows"):
        for name, value in artifacts.environment.items():
            monkeypatch.setenv(name, value)
        folder = tmp_path / "run"
        folder.mkdir()
        (folder / "sink").write_text(text)
        discard(folder, requests)
        monkeypatch.delenv(ARTIFACTS, raising=False)

    def kept():
        found = (results.folder / "kept").glob("*/files/sink")
        return {path.parts[-3]: path.read_text() for path in found}

    return begin, hand_over, kept


def test_only_failing_cases_are_kept_and_the_rest_is_deleted(campaign):
    begin, hand_over, kept = campaign
    with begin("failed") as artifacts:
        hand_over(artifacts, REQUESTS[:1])
        hand_over(artifacts, REQUESTS[1:2])
        artifacts.settle(ONE, "one", failed=False)
        artifacts.settle(TWO, "two", failed=True)
        artifacts.settle(THREE, "three", failed=True)
        assert [path.name for path in artifacts.folder.iterdir()] == [".owner"]
    assert kept() == {"two": "rows"}
    assert not artifacts.folder.exists()


def test_a_batch_is_copied_once_and_deleted_with_its_last_verdict(campaign):
    begin, hand_over, kept = campaign
    with begin("failed") as artifacts:
        hand_over(artifacts, REQUESTS)
        artifacts.settle(ONE, "one", failed=True)
        artifacts.settle(TWO, "two", failed=True)
        assert len(list(artifacts.folder.iterdir())) == 2
        artifacts.settle(THREE, "three", failed=False)
        assert len(list(artifacts.folder.iterdir())) == 1
    assert kept() == {"one": "rows"}
    manifest = artifacts.results.kept("two") / MANIFEST
    assert json.loads(manifest.read_text())["same as"] == "one"


@pytest.mark.parametrize(("keep", "names"), [("all", {"one"}), ("none", set())])
def test_all_or_none_can_be_kept(campaign, keep, names):
    begin, hand_over, kept = campaign
    with begin(keep) as artifacts:
        hand_over(artifacts, REQUESTS[:1])
        artifacts.settle(ONE, "one", failed=False)
    assert set(kept()) == names


def test_a_counterexample_has_the_files_of_its_last_failing_run(campaign):
    begin, hand_over, kept = campaign
    with begin("failed") as artifacts:
        for number, failed in enumerate([True, True, False]):
            hand_over(artifacts, REQUESTS[:1], text=f"run {number}")
            artifacts.hold(ONE, failed=failed)
        artifacts.keep_held(ONE, "counterexample-1")
        assert [path.name for path in artifacts.folder.iterdir()] == [".owner"]
    assert kept() == {"counterexample-1": "run 1"}


def test_a_case_that_is_run_again_after_an_interruption_is_kept_anew(campaign):
    begin, hand_over, kept = campaign
    with begin("failed") as artifacts:
        hand_over(artifacts, REQUESTS[:1])
        artifacts.settle(ONE, "one", failed=True)
    (artifacts.results.folder / "kept" / ".two.part").mkdir()
    artifacts.results.tidy()
    assert [path.name for path in (artifacts.results.folder / "kept").iterdir()] == ["one"]
    with begin("failed") as artifacts:
        hand_over(artifacts, REQUESTS[:1])
        artifacts.settle(ONE, "one", failed=False)
    assert kept() == {}


def test_what_an_engine_forges_in_the_suites_folder_is_ignored(campaign, tmp_path):
    begin, _, kept = campaign
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "cases").write_text(f"{ONE}\n")
    with begin("failed") as artifacts:
        Path(artifacts.folder, "link").symlink_to(tmp_path / "secret")
        Path(artifacts.folder, "folder").mkdir()
        Path(artifacts.folder, "folder", "cases").symlink_to(tmp_path / "secret" / "cases")
        artifacts.settle(ONE, "one", failed=True)
    assert kept() == {}
    assert (tmp_path / "secret" / "cases").exists()
