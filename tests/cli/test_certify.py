"""`conformance certify` and `verify`, as a user types them."""

import json
import shlex
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from conformance.campaign.events import GUARANTEES
from conformance.campaign.journal import Journal
from conformance.campaign.results import Results
from conformance.cli.certify import EXIT
from conformance.generators import SITUATIONS, corpus
from tests import miniatures

pytestmark = [pytest.mark.campaign, pytest.mark.usefixtures("somewhere")]

CASES = 6
TOTAL = len(corpus()) + CASES


@pytest.fixture
def certify(conformance):
    """Certifies an engine on a few cases; gives exit code, certificate, stdout and stderr."""

    def run(engine, *more, cases=CASES):
        code, out, err = conformance("certify", engine, "--cases", cases, "--out", "results", *more)
        certificate = Path("results/certificate.json")
        return code, json.loads(certificate.read_text()) if certificate.exists() else None, out, err

    return run


def test_the_reference_is_certified(certify, conformance):
    code, certificate, out, err = certify("reference")
    assert code == 0
    assert certificate["verdict"] == "conforms"
    assert certificate["cases"]["conforms"] == certificate["cases"]["planned"] == TOTAL
    assert {each["verdict"] for each in certificate["guarantees"].values()} == {"conforms"}
    assert list(certificate["guarantees"]) == list(GUARANTEES)
    assert list(certificate["coverage"]) == list(SITUATIONS)
    assert certificate["sensitivity"]["killed"] > 50
    assert certificate["meaning"] in out
    assert f"reference: {TOTAL} cases\n" in err
    assert {place.split("/")[0] for place in certificate["files"]} == {
        "badge.json",
        "badge.svg",
        "cases",
        "journal.jsonl",
        "junit.xml",
        "observations",
    }
    assert conformance("verify", "results/certificate.json")[:2] == (
        0,
        f"verified: reference, conforms; {2 * TOTAL + 4} files are as they were\n",
    )


def test_a_broken_engine_is_convicted_with_a_counterexample(certify, conformance):
    code, certificate, out, _ = certify("mutant:appended-on-replay", "--shrink-runs", 200, "--seed", 1)
    assert code == 1
    assert certificate["guarantees"]["no duplicates"]["verdict"] == "violates"
    assert certificate["guarantees"]["no loss"]["verdict"] == "conforms"
    found = next(each for each in certificate["counterexamples"] if each["promise"] == "no duplicates")
    assert found["rate"] == {"failed": 20, "runs": 20}
    assert found["after"] == {"tasks": 1, "epochs": 1, "events": 1, "failures": 1}
    assert found["examined"]["without_failures"] == "conforms"
    assert found["examined"]["sinks"] == "violates"
    assert "See it: conformance run results/counterexamples/1.json mutant:appended-on-replay" in out
    assert conformance("run", "results/counterexamples/1.json", "mutant:appended-on-replay")[0] == 1
    assert conformance("run", "results/counterexamples/1.json", "reference")[0] == 0
    assert conformance("verify", "results/certificate.json")[0] == 0
    suites = ET.parse("results/junit.xml").getroot()  # noqa: S314 - ours
    (failed,) = suites.findall("testsuite[1]/testcase[@name='no duplicates']/failure")
    assert "Broken in" in failed.text
    assert json.loads(Path("results/badge.json").read_text())["color"] == "red"


@pytest.mark.parametrize(
    ("engine", "verdict", "count"),
    [
        ("Slow", "inconclusive", "inconclusive"),
        ("Unarmed", "inconclusive", "not exercised"),
        ("Calm", "inconclusive", "conforms"),
        ("Raising", "inconclusive", "error"),
    ],
)
def test_inconclusive_cases_are_no_pass(certify, engine, verdict, count):
    code, certificate, _, _ = certify(f"python:tests.engines:{engine}")
    assert code == EXIT[verdict]
    assert certificate["verdict"] == verdict
    assert certificate["cases"][count] > 0
    assert certificate["cases"]["violates"] == 0


def test_the_certificate_says_which_cases_ran_where(certify, conformance):
    code, certificate, out, _ = certify("python:tests.engines:Placed")
    assert code == 0
    threads, processes = certificate["places"]["threads"], certificate["places"]["processes"]
    assert f"ran in: threads {len(threads)}, processes {len(processes)}" in out
    assert len(threads) + len(processes) == TOTAL
    assert "keyed-state-partly-restored" in processes
    events = [json.loads(line) for line in Path("results/journal.jsonl").read_text().splitlines()]
    first_batch = [event["place"] for event in events if event["event"] == "judged" and event["index"] < 6]
    assert first_batch == ["threads"] * 4 + ["processes"] * 2, "kills come last"
    report = Path("results/index.html").read_text()
    assert f"cases ran in: threads {len(threads)}, processes {len(processes)}" in report
    file = Path("results/observations/keyed-state-partly-restored.json")
    file.write_text(file.read_text().replace('"processes"', '"threads"'))
    code, out, _ = conformance("verify", "results/certificate.json")
    assert code == 1
    assert f"{file.relative_to('results')}: it ran in another place than the journal says" in out


def test_a_stall_that_repeats_with_a_long_deadline_convicts(certify):
    code, certificate, _, _ = certify("python:tests.engines:Stuck", "--shrink-runs", 200)
    assert code == 1
    assert certificate["guarantees"]["liveness"]["verdict"] == "violates"
    assert certificate["guarantees"]["no loss"]["verdict"] == "conforms"
    (found,) = certificate["counterexamples"]
    assert found["after"]["failures"] == 2
    assert found["examined"]["stall"] is True


def test_a_deadline_that_no_run_can_meet_is_inconclusive(certify):
    code, certificate, out, _ = certify("python:tests.engines:Ponderous", "--deadline", 0.01, "--cases", 0)
    assert (code, certificate["verdict"]) == (3, "inconclusive")
    assert certificate["cases"]["inconclusive"] == certificate["cases"]["judged"]
    assert "did not end within --deadline 0.01, which may be too short" in out


def test_an_intermittent_violation_is_reported_with_its_rate(certify):
    code, certificate, out, _ = certify("python:tests.engines:Flaky", "--shrink-runs", 100)
    assert code == 1
    assert certificate["guarantees"]["no loss"]["verdict"] == "violates"
    for found in certificate["counterexamples"]:
        assert 0 < found["rate"]["failed"] < found["rate"]["runs"]
        assert f"fails in {found['rate']['failed']} of {found['rate']['runs']} runs" in out


def test_a_violation_that_does_not_repeat_every_time_is_shrunk(certify):
    _, certificate, _, _ = certify("python:tests.engines:Moody", "--shrink-runs", 500)
    (found,) = [each for each in certificate["counterexamples"] if each["promise"] == "no loss"]
    assert 0 < found["rate"]["failed"] < found["rate"]["runs"]
    assert found["after"]["tasks"] == found["after"]["events"] == 1


def test_a_case_of_the_corpus_is_shrunk_like_a_generated_one(certify):
    _, certificate, _, _ = certify("mutant:state-without-inputs", cases=0)
    (found,) = [each for each in certificate["counterexamples"] if each["promise"] == "no loss"]
    assert not found["id"].startswith("generated-")
    assert found["after"] == {"tasks": 1, "epochs": 1, "events": 1, "failures": 1}
    assert found["before"] != found["after"]
    assert found["rate"] == {"failed": 20, "runs": 20}


def test_a_case_that_fails_only_in_its_batch_is_merged_with_it(certify, conformance):
    code, certificate, _, _ = certify("python:tests.engines:CrossTalk", "--shrink-runs", 10)
    assert code == 1
    found = certificate["counterexamples"][0]
    assert found["examined"]["alone"]["failed"] == 0
    assert found["examined"]["batch"] == {"failed": 1, "runs": 1}
    case = json.loads(Path("results", found["file"]).read_text())
    assert {source.split("-")[0] for source in case["graph"]["sources"]} == {f"c{n}" for n in range(6)}
    assert conformance("run", Path("results", found["file"]), "python:tests.engines:CrossTalk")[0] == 1


def miniature(way, every):
    return f"stdio:{shlex.join([sys.executable, '-P', miniatures.__file__, way, str(every)])}"


@pytest.mark.parametrize("way", ["exit", "garbage", "hang", "leak", "another-case", "too-little", "says-error"])
def test_the_campaign_continues_after_an_engine_error(certify, way):
    code, certificate, _, _ = certify(miniature(way, 15), "--deadline", 0.5)
    assert code == 3
    counts = certificate["cases"]
    assert counts["error"] >= 2
    assert counts["error"] + counts["conforms"] == TOTAL
    assert f"Of {TOTAL} cases" in certificate["because"]
    assert miniatures.alive() == []


def test_an_engine_that_only_fails_is_given_up(certify):
    code, certificate, out, _ = certify(miniature("exit", 1))
    assert code == 4
    assert certificate["verdict"] == "error"
    assert certificate["cases"]["error"] == certificate["cases"]["judged"] == 10
    assert "10 errors in a row, the last: it ended early, with exit code 3" in out


def test_an_engine_that_cannot_start_is_exit_4_an_unknown_one_exit_2(conformance):
    assert conformance("certify", "stdio:/no/such/adapter")[0] == 4
    code, _, err = conformance("certify", "missing")
    assert code == 2
    assert "there is no engine 'missing'" in err
    assert not Path("build").exists()


def test_a_folder_with_results_is_not_written_over(certify, certified):
    shutil.copytree(certified, "results")
    before = Results(Path("results")).digests()
    code, _, _, err = certify("reference")
    assert code == 2
    assert "the folder is not empty. Give a new folder, or --resume" in err
    assert Results(Path("results")).digests() == before


def test_resuming_an_ended_campaign_prints_the_same(conformance, certified):
    shutil.copytree(certified, "results")
    before = Path("results/certificate.json").read_bytes()
    code, out, _ = conformance("certify", "--resume", "--out", "results")
    assert code == 1
    assert "mutant:appended-on-replay: violates" in out
    assert Path("results/certificate.json").read_bytes() == before


def test_resume_needs_a_campaign_on_the_same_engines(conformance, certified):
    code, _, err = conformance("certify", "--resume")
    assert code == 2
    assert "no campaign was begun in it. Name the engines to start one." in err
    shutil.copytree(certified, "results")
    code, _, err = conformance("certify", "reference", "--resume", "--out", "results")
    assert code == 2
    assert "the campaign in it is on mutant:appended-on-replay" in err


def test_with_json_every_event_is_a_line(certify):
    code, _, out, _ = certify("reference", "--json")
    assert code == 0
    events = [json.loads(line) for line in out.splitlines()]
    assert [event["event"] for event in events] == ["began", *["judged"] * TOTAL, "measured", "ended"]


def test_the_command_line_overrides_the_projects_settings(conformance):
    Path("pyproject.toml").write_text('[tool.conformance]\nengines = ["reference"]\ncases = 1\nout = "here"\n')
    assert conformance("certify")[0] == 0
    assert json.loads(Path("here/certificate.json").read_text())["cases"]["planned"] == len(corpus()) + 1
    assert conformance("certify", "--cases", 2, "--out", "there")[0] == 0
    assert json.loads(Path("there/certificate.json").read_text())["cases"]["planned"] == len(corpus()) + 2


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("enginse = []", r"tool.conformance.enginse: found an unknown setting; expected engines, profile"),
        ('seed = "0"', "tool.conformance.seed: found '0'; expected a number from 0"),
        ("deadline = -1", "tool.conformance.deadline: found -1; expected a number of seconds"),
        ("engines = ['", "it cannot be read"),
    ],
)
def test_a_wrong_setting_is_named(conformance, setting, said):
    Path("pyproject.toml").write_text(f"[tool.conformance]\n{setting}\n")
    code, _, err = conformance("certify", "reference")
    assert code == 2
    assert said in err


def test_an_engine_cannot_change_its_claims_on_restart(certify):
    code, certificate, _, _ = certify("python:tests.engines:Turncoat")
    assert code == 4
    assert "describes itself differently" in certificate["because"]


def test_a_case_that_ends_an_engine_is_one_error_in_a_batch(certify):
    _, certificate, _, _ = certify("python:tests.engines:Poisoned")
    assert certificate["cases"]["error"] == 1
    assert certificate["cases"]["conforms"] == TOTAL - 1


def without(lines, *parts):
    return [line for line in lines if not any(part in line for part in parts)]


def test_a_journal_without_its_violations_is_unfinished(conformance, certified):
    shutil.copytree(certified, "results")
    journal = Path("results/journal.jsonl")
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(without(lines, '"violates"')))
    code, out, _ = conformance("certify", "--resume", "--out", "results")
    assert code == 3
    assert "Only " in out
    assert conformance("verify", "results/certificate.json")[0] == 1


def test_an_engine_that_was_given_up_stays_given_up(certify, conformance):
    certify(miniature("exit", 1))
    journal = Path("results/journal.jsonl")
    whole = journal.read_text()
    journal.write_text("".join(without(whole.splitlines(keepends=True), '"measured"', '"ended"')))
    assert conformance("certify", "--resume", "--out", "results")[0] == 4
    assert journal.read_text() == whole


def test_unfinished_files_are_removed_on_resume(conformance, certified):
    shutil.copytree(certified, "results")
    for place in (".certificate.json.part", "cases/.x.json.part"):
        Path("results", place).write_text("half")
    Path("results/certificate.json").unlink()
    conformance("certify", "--resume", "--out", "results")
    assert conformance("verify", "results/certificate.json")[0] == 0


def test_two_processes_cannot_run_one_campaign(conformance, certified):
    shutil.copytree(certified, "results")
    journal = Path("results/journal.jsonl")
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:-1]))
    with Journal(journal):
        code, _, err = conformance("certify", "--resume", "--out", "results")
    assert code == 2
    assert "another process is running this campaign" in err


def test_a_resumed_campaign_ignores_the_settings(conformance, certified):
    shutil.copytree(certified, "results")
    Path("pyproject.toml").write_text('[tool.conformance]\nengines = ["reference"]\ncases = 500\n')
    assert conformance("certify", "--resume", "--out", "results")[0] == 1
    code, _, err = conformance("certify", "--resume", "--out", "results", "--seed", 9)
    assert code == 2
    assert "began with --seed 0. Omit --seed to resume this campaign, or omit --resume to start a new one." in err


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('{"event": "judged"', '{"event": []'),
        ('"profile": "quick"', '"profile": "nope"'),
        ('"cases": 2', '"cases": -5'),
        ('"cases": 2', '"cases": 1e30'),
        (f'"index": {len(corpus())}', '"index": 9999'),
        ('"id": "generated-00001"', '"id": "generated-00002"'),
        ('"engine": "mutant:appended-on-replay"', '"engine": "\\u0000"'),
        ('"engine": "mutant:appended-on-replay"', '"engine": "\\ud800"'),
    ],
)
def test_a_changed_journal_is_refused(conformance, certified, old, new):
    shutil.copytree(certified, "results")
    journal = Path("results/journal.jsonl")
    text = "".join(without(journal.read_text().splitlines(keepends=True), '"ended"'))
    assert old in text
    journal.write_text(text.replace(old, new, 1))
    assert conformance("certify", "--resume", "--out", "results")[0] == 2
    assert conformance("verify", "results/certificate.json")[0] in {1, 2}


@pytest.mark.parametrize("text", ["{}", "[]", '{"engines": 5}', '{"engines": [5]}', "nonsense"])
def test_a_malformed_list_of_engines_is_refused(conformance, text):
    Path("results").mkdir()
    Path("results/engines.json").write_text(text)
    assert conformance("certify", "--resume", "--out", "results")[0] == 2


def test_a_comparison_without_differences_prints_no_json(conformance):
    code, out, _ = conformance("certify", "python:tests.engines:Right", "reference", "--cases", 0, "--json")
    assert code == 0
    assert all(json.loads(line)["event"] for line in out.splitlines())


@pytest.mark.parametrize("deadline", ["nan", "inf", "1e300", "0"])
def test_a_deadline_is_a_number_of_seconds(conformance, deadline):
    assert conformance("certify", "reference", "--deadline", deadline)[0] == 2


def test_an_engine_that_fails_does_not_stop_the_others(conformance):
    code, _, err = conformance("certify", "python:tests.engines:Once", "mutant:plain", "--cases", 0, "--out", "results")
    assert code == 4
    assert "python:tests.engines:Once: EngineUnavailable: not again" in err
    assert Path("results/mutant-plain/certificate.json").exists()
