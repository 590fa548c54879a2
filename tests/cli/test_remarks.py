"""Remarks of engines for the user, and settings that change between two runs of a campaign."""

import json
from pathlib import Path

import pytest

pytestmark = [pytest.mark.campaign, pytest.mark.usefixtures("somewhere")]

REMARK = "python:tests.engines:Remarking: runs on wheels\\x1b[2J"


@pytest.mark.parametrize("others", [[], ["reference"]])
def test_a_remark_is_printed_once_and_not_certified(conformance, others):
    _, out, err = conformance("certify", "python:tests.engines:Remarking", *others, "--cases", 0, "--out", "out")
    assert err.count(REMARK) == 1
    assert "runs on wheels" not in out
    for file in Path("out").rglob("*.json*"):
        assert "runs on wheels" not in file.read_text()


def test_other_commands_print_remarks_too(conformance):
    conformance("generate", "--cases", 1, "--out", "cases")
    (case,) = Path("cases").iterdir()
    assert REMARK in conformance("run", case, "python:tests.engines:Remarking")[2]


def test_a_campaign_is_not_resumed_on_other_settings(conformance, monkeypatch):
    conformance("certify", "python:tests.engines:Remarking", "--cases", 0, "--out", "out")
    journal = Path("out", "journal.jsonl")
    journal.write_text(journal.read_text().splitlines()[0] + "\n")
    assert json.loads(journal.read_text())["description"]["info"]["settings"] == {"on": "wheels"}
    monkeypatch.setenv("RUNS_ON", "rails")
    code, _, err = conformance("certify", "--resume", "--out", "out")
    assert code == 4
    assert "the campaign began on remarking 1 with on wheels (now rails)" in err
