"""`conformance certify --keep`: the files that an engine leaves of failing cases."""

import json
import tempfile
from pathlib import Path

import pytest

from conformance.campaign.artifact_copy import MANIFEST

pytestmark = [pytest.mark.campaign, pytest.mark.usefixtures("somewhere")]

LITTERING = "python:tests.engines:Littering"


def judged():
    """The outcomes of a campaign, by case."""
    events = map(json.loads, Path("results/journal.jsonl").read_text().splitlines())
    return {event["id"]: event["outcome"] for event in events if event["event"] == "judged"}


def kept():
    return {path.parent.name for path in Path("results/kept").glob(f"*/{MANIFEST}")}


@pytest.fixture
def littering(conformance, monkeypatch, tmp_path_factory):
    """Certifies an engine that leaves files, and checks that no temporary folder remains."""

    def run(*options, engine=LITTERING):
        temporary = tmp_path_factory.mktemp("temporary")
        monkeypatch.setenv("TMPDIR", str(temporary))
        monkeypatch.setattr(tempfile, "tempdir", None)
        arguments = ("certify", engine, "--cases", 6, "--shrink-runs", 30, "--out", "results", *options)
        code, _, err = conformance(*arguments)
        assert [path.name for path in temporary.iterdir() if path.name.startswith("conformance-")] == []
        return code, err

    return run


def test_the_files_of_failing_cases_and_counterexamples_are_kept(littering, conformance):
    code, err = littering()
    assert code == 1
    outcomes = judged()
    violating = {name for name, outcome in outcomes.items() if outcome == "violates"}
    assert violating
    assert violating < set(outcomes)
    counterexamples = {f"counterexample-{path.stem}" for path in Path("results/counterexamples").glob("[0-9].json")}
    assert kept() == violating | counterexamples
    files = {path.name for path in Path("results/kept/counterexample-1").rglob("*") if path.is_file()}
    assert {MANIFEST, "worker.log"} < files
    assert len(files) == 3, "no link and no pipe"
    assert "files that python:tests.engines:Littering left: results/kept" in err
    assert " littering ran " in Path("results/logs/adapter.log").read_text()
    assert conformance("verify", "results/certificate.json")[0] == 0


@pytest.mark.parametrize("keep", ["none", "all"])
def test_files_of_no_case_or_of_all_cases_are_kept(littering, keep):
    littering("--keep", keep)
    cases = {name for name in kept() if not name.startswith("counterexample-")}
    assert cases == (set(judged()) if keep == "all" else set())
    assert Path("results/kept").exists() == (keep == "all")


def test_the_temporary_folder_of_an_engine_that_exits_is_kept(littering):
    littering(engine="python:tests.engines:Exhausted")
    errors = {name for name, outcome in judged().items() if outcome == "error"}
    assert errors
    assert kept() == errors
    for name in errors:
        assert Path("results/kept", name, "heap.dump").read_text() == "what there was"
        assert "exit code 3" in json.loads(Path("results/kept", name, MANIFEST).read_text())["error"]


def test_a_resumed_campaign_keeps_the_files_of_its_other_cases(littering, conformance):
    littering()
    journal = Path("results/journal.jsonl")
    lines = journal.read_text().splitlines(keepends=True)
    whole = kept()
    journal.write_text("".join(lines[:9]))
    for path in Path("results/kept").iterdir():
        if path.name not in {json.loads(line).get("id") for line in lines[:9]}:
            (path / MANIFEST).unlink()
    conformance("certify", "--resume", "--out", "results")
    assert kept() == whole


def test_the_reference_leaves_nothing(littering):
    assert littering(engine="reference")[0] == 0
    assert {path.name for path in Path("results/logs").iterdir()} == {"engine.log"}
    assert not Path("results/kept").exists()
