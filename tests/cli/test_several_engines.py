"""`conformance certify` of several engines, and of all that can run here."""

import json
from pathlib import Path

import pytest

from conformance.cli import certify as certify_command
from conformance.cli import demonstration
from conformance.codec import read_case

pytestmark = [pytest.mark.campaign, pytest.mark.usefixtures("somewhere")]


def test_several_engines_run_the_same_cases_and_are_compared(conformance):
    code, out, _ = conformance("certify", "mutant:aliased", "mutant:plain", "--cases", 3, "--shrink-runs", 20)
    assert code == 1
    top = Path("build/conformance/latest")
    assert sorted(path.name for path in top.iterdir()) == [
        "comparison.json",
        "engines.json",
        "index.html",
        "mutant-aliased",
        "mutant-plain",
        "reference",
    ]
    certificates = [json.loads(path.read_text()) for path in top.glob("*/certificate.json")]
    assert len(certificates) == 3
    assert len({json.dumps(each["cases"]["planned"]) for each in certificates}) == 1
    found = json.loads((top / "comparison.json").read_text())["disagreements"]
    assert {each["comparison"] for each in found} == {"compatible", "differing"}
    for each in found:
        wrong = each["outcomes"]["mutant:aliased"] == "violates"
        assert each["comparison"] == ("differing" if wrong else "compatible")
        assert each["outcomes"]["reference"] == each["outcomes"]["mutant:plain"] == "conforms"
    assert "side by side:" in out


def test_several_engines_end_with_a_line_for_each_and_the_report(conformance):
    _, out, err = conformance("certify", "mutant:aliased", "mutant:plain", "--cases", 3, "--shrink-runs", 20)
    *_, aliased, plain, reference, side_by_side = [line for line in out.splitlines() if not line.startswith("  ")]
    assert aliased.startswith("mutant:aliased: violates. ")
    assert plain.startswith("mutant:plain: conforms. ")
    assert reference.startswith("reference: conforms. ")
    assert side_by_side.startswith("side by side: ")
    assert err.splitlines()[-1].startswith("report: ")
    assert "no loss            violates" in out or "state              violates" in out
    assert out.count("monotonic output") == 1, "only what does not conform is shown in full"


def test_without_an_engine_all_that_can_run_are_certified_and_the_others_named(conformance, monkeypatch):
    monkeypatch.setattr(certify_command, "standalone_names", lambda: ["reference", "stdio:/no/adapter", "mutant:plain"])
    code, out, err = conformance("certify", "--cases", 2, "--shrink-runs", 5)
    assert code == 0
    assert out.startswith("First, an engine that is broken on purpose")
    assert "duplicated: Epoch 1 of `bills` shows 42 at position 1" in out
    assert "stdio:/no/adapter cannot run here: its command cannot be run" in err
    (top,) = [path for path in Path("build/conformance").iterdir() if not path.is_symlink()]
    assert json.loads((top / "engines.json").read_text()) == {"engines": ["reference", "mutant:plain"]}
    assert sorted(path.name for path in top.iterdir() if path.is_dir()) == ["mutant-plain", "reference"]
    assert conformance("certify", "--resume")[0] == 0


def test_the_demonstration_is_the_example_of_the_readme():
    assert read_case(Path(__file__).parents[2] / "examples" / "billed-twice.json") == demonstration.CASE
