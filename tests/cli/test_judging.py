"""`conformance run`, `check`, `compare`, `engines` and `mutants`, as a user types them."""

import json
from pathlib import Path

import pytest

from conformance.adapters.mutants import MUTANTS
from conformance.cli.verdicts import worst

CASE = str(Path(__file__).parents[2] / "examples" / "incremental-average.json")
CORPUS = Path(__file__).parents[2] / "generators" / "corpus"


def lines(out):
    return [json.loads(line) for line in out.splitlines()]


@pytest.fixture
def saved(conformance, tmp_path):
    """Observations of a case on an engine, as a file."""

    def save(case, engine, seed=0):
        folder = tmp_path / f"{Path(case).stem}-{engine.replace(':', '-')}-{seed}"
        conformance("run", case, engine, "--save", folder, "--seed", seed)
        (file,) = folder.iterdir()
        return file

    return save


def test_run_says_conforms_and_how_it_knows(conformance):
    code, out, _ = conformance("run", CASE, "reference")
    assert code == 0
    assert out.splitlines() == [
        "reference: 1 of 1 failures fired",
        "conforms: 2 epochs, explained by a failure-free execution of 6 steps",
    ]


def test_run_convicts_and_says_why(conformance):
    case = CORPUS / "paper-observed-execution.json"
    code, out, _ = conformance("run", case, "reference", "mutant:appended-on-replay", "--json")
    assert code == 1
    good, bad = lines(out)
    assert (good["engine"], good["verdict"]) == ("reference", "conforms")
    assert (bad["verdict"], bad["guarantee"]) == ("violates", "at-least-once")
    assert bad["findings"][0]["diagnosis"] == "duplicated"
    assert bad["findings"][0]["stream"] == "three"
    code, out, _ = conformance("run", case, "mutant:appended-on-replay", "--sinks")
    assert code == 1
    assert "violates; the strongest guarantee left is" in out


def test_an_unknown_engine_is_exit_2_with_a_list_of_engines(conformance):
    code, _, err = conformance("run", CASE, "flonk")
    assert code == 2
    assert "there is no engine 'flonk'; there are reference" in err
    assert conformance("run", CASE, "reference:fast")[0] == 2
    assert conformance("run", CASE, "python:nowhere:Nothing")[0] == 2


def test_an_engine_of_ones_own_is_imported_by_its_path(conformance):
    code, out, _ = conformance("run", CASE, "python:conformance.adapters.reference:Reference")
    assert code == 0
    assert "conforms" in out


ENGINES = """
from conformance.engine import Description
from conformance.observation import EngineInfo

class Dead:
    def __init__(self, settings): pass
    def start(self): raise OSError("cannot connect")
    def run(self, requests): yield None
    def stop(self): raise ValueError

class Silent(Dead):
    def start(self): return Description(EngineInfo("silent"))

class NoEngine:
    def __init__(self, settings): pass
"""


@pytest.fixture
def own_engines(tmp_path, monkeypatch):
    (tmp_path / "own_engines.py").write_text(ENGINES)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("own_engines")
def test_an_exception_is_the_engines_error_and_the_next_cases_run(conformance):
    case = CORPUS / "paper-observed-execution.json"
    code, out, err = conformance("run", case, "python:own_engines:Dead", "reference")
    assert code == 4
    assert "EngineUnavailable: it raised OSError: cannot connect (" in err
    assert "Traceback" not in err
    assert "conforms" in out
    code, out, _ = conformance("run", case, "python:own_engines:Silent", "mutant:appended-on-replay", "--json")
    assert code == 1, "a violation before an error"
    assert [line["verdict"] for line in lines(out)] == ["error", "violates"]


@pytest.mark.usefixtures("own_engines")
def test_an_invalid_engine_is_refused_before_anything_runs(conformance):
    code, _, err = conformance("run", CASE, "python:own_engines:NoEngine")
    assert code == 2
    assert "it needs the methods start, run and stop" in err
    assert conformance("run", CASE, "python:json:JSONDecoder")[0] == 2
    assert conformance("run", CASE, "python:json:dumps")[0] == 2


def test_own_epochs_are_observed_at_the_sources_too(conformance):
    assert conformance("run", CASE, "mutant:own-epochs", "--sinks")[0] == 0


def test_saved_observations_are_not_overwritten(conformance, tmp_path):
    (tmp_path / "mine").write_text("mine")
    code, _, err = conformance("run", CASE, "reference", "--save", tmp_path)
    assert code == 2
    assert "the folder is not empty" in err
    assert conformance("run", CASE, "reference", "--save", tmp_path / "mine")[0] == 2


def test_check_judges_what_run_saved(conformance, saved):
    code, out, _ = conformance("check", CASE, saved(CASE, "reference"), "--json")
    assert code == 0
    (verdict,) = lines(out)
    assert verdict["verdict"] == "conforms"
    assert verdict["at"] == sorted(verdict["at"])
    case = CORPUS / "paper-observed-execution.json"
    code, out, _ = conformance("check", case, saved(case, "mutant:appended-on-replay"))
    assert code == 1
    assert "duplicated: Epoch 2 of `three`" in out


def test_check_refuses_observations_of_another_case(conformance, saved):
    file = saved(CASE, "reference")
    code, _, err = conformance("check", CORPUS / "empty-epochs.json", file)
    assert code == 2
    assert f"{file}: $.case: found" in err


def test_compare_tells_equal_compatible_and_differing_apart(conformance, saved):
    one = saved(CASE, "reference", 0)
    assert conformance("compare", CASE, one, one)[:2] == (0, "equal\n")
    others = [conformance("compare", CASE, one, saved(CASE, "reference", seed), "--json") for seed in range(1, 8)]
    answers = {lines(out)[0]["comparison"] for _, out, _ in others}
    assert answers <= {"equal", "compatible"}
    assert "compatible" in answers
    case = CORPUS / "paper-observed-execution.json"
    broken = saved(case, "mutant:appended-on-replay")
    code, out, _ = conformance("compare", case, saved(case, "reference"), broken)
    assert code == 1
    assert out.startswith("differing, first in epoch 2 of `three`")


def test_engines_lists_what_is_here(conformance):
    code, out, _ = conformance("engines", "--json")
    assert code == 0
    listed = {line["engine"]: line for line in lines(out)}
    assert listed["reference"]["ready"]
    assert listed["reference"]["failures"] == ["crash", "kill", "partition", "restart"]
    assert listed["mutant"]["ready"]
    assert "reference" in conformance("engines")[1]


def test_mutants_prints_a_line_for_each_and_a_summary(conformance):
    code, out, _ = conformance("mutants", "--runs", 20)
    assert code == 0
    assert f"{len(MUTANTS)} of {len(MUTANTS)} broken engines convicted" in out
    assert "0 accusations in 20 runs of 10 correct ones" in out
    code, out, _ = conformance("mutants", "--cases", 1, "--runs", 0)
    assert code == 1, "one case does not kill all"
    assert "SURVIVED" in out


def test_the_worst_of_several_engines_decides():
    assert worst([0, 3, 4]) == 4
    assert worst([0, 3]) == 3
    assert worst([70, 4, 1]) == 1
    assert worst([0, 2]) == 2
    assert worst([]) == 0
