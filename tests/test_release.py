"""`tox -e release`: what it does with dist/, and what it says before a release is published."""

import runpy
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

RELEASE = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "tools" / "release.py")))


@pytest.fixture
def built(tmp_path):
    (tmp_path / "built").mkdir()
    file = tmp_path / "built" / "ours-2.tar.gz"
    file.write_text("new")
    return file


def test_other_files_in_dist_stay(built, tmp_path, capsys):
    dist = tmp_path / "dist"
    dist.mkdir()
    (dist / "ours-1.tar.gz").write_text("former")
    assert RELEASE.copy([built], dist) == [dist / "ours-2.tar.gz"]
    assert {file.name: file.read_text() for file in dist.iterdir()} == {"ours-1.tar.gz": "former", built.name: "new"}
    assert capsys.readouterr().out == f"new: {dist / built.name}\n"


def test_a_file_of_the_same_version_is_replaced_and_named(built, tmp_path, capsys):
    dist = tmp_path / "dist"
    dist.mkdir()
    (dist / built.name).write_text("old")
    RELEASE.copy([built], dist)
    assert (dist / built.name).read_text() == "new"
    assert capsys.readouterr().out == f"replaced: {dist / built.name}\n"


def test_a_version_without_a_section_in_the_changelog_is_named(tmp_path):
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text("## [Unreleased]\n\n## [1.0.0] - 2026-01-01\n")
    assert RELEASE.changelog_points(changelog, "1.0.0") == []
    assert RELEASE.changelog_points(changelog, "1.0.1") == ["CHANGELOG.md has no section [1.0.1]"]


def test_files_that_are_not_committed_are_named(tmp_path):
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    assert RELEASE.git_points(tmp_path) == []
    (tmp_path / "stray.py").touch()
    assert RELEASE.git_points(tmp_path) == ["not committed: stray.py"]


def test_a_step_that_fails_ends_the_release(tmp_path):
    with pytest.raises(SystemExit, match="exit code 3; dist/ is as it was"):
        RELEASE.run("sh", "-c", "exit 3", within=tmp_path)


def test_python_settings_of_the_caller_do_not_reach_a_step(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    RELEASE.run("sh", "-c", 'echo "path: $PYTHONPATH, given: $GIVEN"', within=tmp_path, GIVEN=tmp_path)
    assert f"path: , given: {tmp_path}" in capfd.readouterr().out
