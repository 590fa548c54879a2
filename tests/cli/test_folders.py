"""Results folders of `conformance certify`: unique, never left empty, and named by commands that work when copied."""

import re
import shlex
from html import unescape
from pathlib import Path

import pytest

from conformance.campaign.results import Results
from conformance.campaign.session import new_folder
from conformance.cli import certify as command

pytestmark = [pytest.mark.usefixtures("somewhere")]

FEW = ("--cases", 1, "--shrink-runs", 5)


def commands_of(text):
    return list(dict.fromkeys(re.findall(r"conformance (?:run|check|verify) .*", text)))


def test_two_campaigns_of_one_second_have_different_folders():
    folders = [new_folder(Path("results"), ["reference"]) for _ in range(3)]
    assert len(set(folders)) == 3


def test_a_results_folder_below_a_file_is_refused(conformance):
    Path("build").write_text("a file")
    code, _, err = conformance("certify", "reference", *FEW)
    assert (code, "build" in err, Path("build").read_text()) == (2, True, "a file")


@pytest.mark.parametrize("engines", [["stdio:/no/such/adapter"], ["missing"], ["stdio:/no/such/adapter", "missing"]])
@pytest.mark.parametrize("out", [[], ["--out", "a/b"]])
def test_an_engine_that_cannot_start_leaves_no_folder(conformance, engines, out):
    assert conformance("certify", *engines, *out)[0] != 0
    assert list(Path.cwd().iterdir()) == []


def test_a_folder_of_the_user_stays(conformance):
    Path("mine").mkdir()
    assert conformance("certify", "missing", "--out", "mine")[0] != 0
    assert list(Path.cwd().rglob("*")) == [Path.cwd() / "mine"]


def test_an_interruption_before_the_first_case_offers_no_resume(conformance, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "certify_one", interrupt)
    code, _, err = conformance("certify", "reference")
    assert code == 130
    assert "There is nothing to resume." in err
    assert "--resume" not in err
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.campaign
@pytest.mark.parametrize("engines", [["mutant:appended-on-replay"], ["mutant:appended-on-replay", "reference"]])
def test_every_printed_command_works_when_copied(conformance, engines):
    _, out, _ = conformance("certify", *engines, *FEW, "--out", "my results/here")
    printed = commands_of(out)
    shown = commands_of(unescape(re.sub(r"<[^>]*>", "\n", Path("my results/here/index.html").read_text())))
    assert printed
    assert shown
    cases = [line for line in shown if "/cases/" in line]
    for line in [*printed, *(line for line in shown if line not in cases[5:])]:
        code, _, err = conformance(*shlex.split(line)[1:])
        assert code in {0, 1}, f"{line}: {err}"


@pytest.mark.campaign
def test_commands_of_results_elsewhere_are_absolute(conformance, tmp_path_factory):
    out = tmp_path_factory.mktemp("elsewhere") / "results"
    conformance("certify", "mutant:appended-on-replay", *FEW, "--out", out)
    assert Results(out).begun
    assert f"conformance run {out}/counterexamples/1.json" in (out / "index.html").read_text()
