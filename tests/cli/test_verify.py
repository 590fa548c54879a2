"""`conformance verify`: a folder of results that was changed."""

import json
import os
import shutil
from pathlib import Path

import pytest

from conformance.campaign.certificate import format_certificate
from conformance.campaign.results import Results
from conformance.generators import corpus

pytestmark = [pytest.mark.campaign, pytest.mark.usefixtures("somewhere")]


def alter(path):
    path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))


@pytest.mark.parametrize(
    "place",
    [
        "journal.jsonl",
        "junit.xml",
        "badge.svg",
        "cases/generated-00001.json",
        "observations/generated-00001.json",
        "counterexamples/1.json",
    ],
)
def test_changed_missing_and_added_files_are_named(conformance, certified, place):
    shutil.copytree(certified, "results")
    alter(Path("results", place))
    code, out, _ = conformance("verify", "results/certificate.json")
    assert code == 1
    assert f"{place}: altered" in out.splitlines()
    Path("results", place).unlink()
    code, out, _ = conformance("verify", "results/certificate.json")
    assert code == 1
    assert f"{place}: missing" in out.splitlines()
    Path("results", place).with_name("more").write_text("more")
    assert (
        f"{Path(place).with_name('more')}: added" in conformance("verify", "results/certificate.json")[1].splitlines()
    )


@pytest.mark.parametrize("field", ["verdict", "engine", "guarantees", "coverage", "cases", "seed", "sensitivity"])
def test_a_falsified_certificate_is_detected(conformance, certified, field):
    shutil.copytree(certified, "results")
    said = json.loads(Path("results/certificate.json").read_text())
    Path("results/certificate.json").write_text(json.dumps(said | {field: "better"}))
    code, out, _ = conformance("verify", "results/certificate.json")
    assert code == 1
    assert out == f"certificate.json: {field} is not what follows from the journal\n"


def test_falsified_observations_are_judged_again(conformance, certified):
    """Also if every digest was changed accordingly."""
    shutil.copytree(certified, "results")
    conformance("run", "results/cases/before-the-first-commit.json", "reference", "--save", "better")
    shutil.copy("better/0-reference.json", "results/observations/before-the-first-commit.json")
    said = json.loads(Path("results/certificate.json").read_text())
    said["files"] = Results(Path("results")).digests()
    Path("results/certificate.json").write_text(format_certificate(said))
    code, out, _ = conformance("verify", "results/certificate.json")
    assert code == 1
    assert out == "observations/before-the-first-commit.json: judged again it is conforms, and was violates\n"


def test_an_invalid_certificate_is_refused(conformance, certified):
    assert conformance("verify", "nowhere.json")[0] == 2
    code, _, err = conformance("verify", certified / "cases" / "generated-00001.json")
    assert code == 2
    assert 'expected "conformance-certificate/1"' in err


def test_a_journal_cannot_name_files_elsewhere(conformance, certified):
    shutil.copytree(certified, "results")
    journal = Path("results/journal.jsonl")
    journal.write_text(journal.read_text().replace('"id": "generated-00001"', '"id": "../../secret"'))
    code, out, _ = conformance("verify", "results/certificate.json")
    assert code == 1
    assert "found '../../secret'; expected the name of a case" in out


def test_a_case_that_is_not_of_the_seed_is_detected(conformance, certified):
    shutil.copytree(certified, "results")
    shutil.copy("results/cases/generated-00001.json", "results/cases/generated-00002.json")
    shutil.copy("results/observations/generated-00001.json", "results/observations/generated-00002.json")
    journal = Path("results/journal.jsonl")
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    one, two = (next(line for line in lines if line.get("id") == f"generated-0000{n}") for n in (1, 2))
    two |= {name: one[name] for name in one if name not in {"index", "id"}}
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    conformance("certify", "--resume", "--out", "results")
    code, out, _ = conformance("verify", "results/certificate.json")
    assert code == 1
    # (Counted from 0.)
    place = len(corpus()) + 1
    assert f"cases/generated-00002.json: not what the seed gives for case {place}" in out.splitlines()


def test_links_pipes_and_added_files_are_named(conformance, certified):
    shutil.copytree(certified, "results")
    Path("results/cases/nowhere.json").symlink_to("/no/such/place")
    Path("results/cases/elsewhere").symlink_to("/etc", target_is_directory=True)
    os.mkfifo("results/observations/fifo")
    Path("results/report-of-mine.html").write_text("fine!")
    code, out, _ = conformance("verify", "results/certificate.json")
    assert code == 1
    added = {line.removesuffix(": added") for line in out.splitlines() if line.endswith(": added")}
    assert added == {"cases/elsewhere", "cases/nowhere.json", "observations/fifo", "report-of-mine.html"}


@pytest.mark.parametrize(("old", "new"), [('"complete": true', '"complete": 1'), ('"seed": 0', '"seed": 9, "seed": 0')])
def test_a_reformatted_certificate_is_detected(conformance, certified, old, new):
    shutil.copytree(certified, "results")
    path = Path("results/certificate.json")
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    assert conformance("verify", "results/certificate.json")[0] in {1, 2}
