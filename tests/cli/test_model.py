"""`conformance model`, as a user types it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

CASE = str(Path(__file__).parents[2] / "examples" / "incremental-average.json")


@pytest.fixture
def trace(tmp_path):
    def write(*steps):
        file = tmp_path / "trace.json"
        file.write_text(json.dumps(steps))
        return file

    return write


def lines(out):
    return [json.loads(line) for line in out.splitlines()]


def test_run_prints_a_trace_that_replay_accepts(conformance, tmp_path):
    code, out, _ = conformance("model", "run", CASE, "--seed", 3, "--json")
    assert code == 0
    (run,) = lines(out)
    assert ["fail", "average"] in run["trace"]
    assert ["recover"] in run["trace"]
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(run["trace"]))
    code, out, _ = conformance("model", "replay", CASE, file, "--json")
    assert code == 0
    replayed = lines(out)
    assert len(replayed) == len(run["trace"]) + 1
    assert (replayed[-1]["gce"], replayed[-1]["out"]) == (run["gce"], run["out"])


def test_the_same_seed_gives_the_same_run(conformance):
    assert conformance("model", "run", CASE, "--seed", 5) == conformance("model", "run", CASE, "--seed", 5)


def test_replay_shows_every_configuration_from_the_initial_one_on(conformance, trace):
    code, out, _ = conformance(
        "model", "replay", CASE, trace(["event", "average", "ints"], ["border", "average"]), "--json"
    )
    assert code == 0
    empty = {"ints": [], "resets": [], "averages": []}
    shown = [(line["step"], line["gce"], line["failed"], line["out"]) for line in lines(out)]
    assert shown == [
        (0, 0, [], empty),
        (1, 0, [], empty),
        (2, 1, [], {"ints": [[1]], "resets": [[]], "averages": [[1]]}),
    ]


def test_the_trace_that_run_prints_can_be_replayed(conformance, tmp_path):
    file = tmp_path / "run.json"
    file.write_text(conformance("model", "run", CASE, "--json")[1])
    assert conformance("model", "replay", CASE, file)[0] == 0
    assert conformance("model", "explain", CASE, file)[0] == 0


def test_a_closed_pipe_and_a_full_disk_are_no_verdicts():
    command = f"{sys.executable} -m conformance model explore {CASE}"
    done = subprocess.run(
        ["bash", "-c", f"{command} | true; echo ${{PIPESTATUS[0]}}"], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["141"]
    assert done.stderr == ""
    full = subprocess.run(["bash", "-c", f"{command} > /dev/full"], capture_output=True, text=True, check=False)
    assert full.returncode == 2
    assert full.stderr == "The output cannot be written: No space left on device.\n"


def test_a_step_that_does_not_apply_is_named(conformance, trace):
    code, out, err = conformance("model", "replay", CASE, trace(["border", "average"]), "--json")
    assert code == 1
    assert len(lines(out)) == 1
    assert "step 0 of the trace, border at average, does not apply: ints has not reached the border" in err
    assert conformance("model", "explain", CASE, trace(["recover"]), "--json")[0] == 1


@pytest.mark.parametrize(
    ("step", "where"),
    [
        (["event", "missing", "ints"], "$[0][1]"),
        (["event", "average", "nothing"], "$[0][2]"),
        (["border", "missing"], "$[0][1]"),
        (["jump"], "$[0]"),
        ("recover", "$[0]"),
        (["recover", "average"], "$[0]"),
        (["fail", 7], "$[0]"),
        ({}, "$[0]"),
    ],
)
def test_a_malformed_trace_is_refused_with_its_place(conformance, trace, step, where):
    file = trace(step)
    code, _, err = conformance("model", "replay", CASE, file)
    assert code == 2
    assert f"{file}: {where}: found" in err


def test_explain_prints_the_failure_free_trace_and_the_mapping(conformance, trace):
    file = trace(
        ["event", "average", "ints"],
        ["fail", "average"],
        ["recover"],
        ["event", "average", "ints"],
        ["border", "average"],
    )
    code, out, _ = conformance("model", "explain", CASE, file, "--json")
    assert code == 0
    assert lines(out) == [
        {"trace": [["event", "average", "ints"], ["border", "average"]], "mapping": [0, 0, 0, 0, 0, 2]}
    ]


def test_explore_says_that_failures_cannot_be_seen(conformance):
    code, out, _ = conformance("model", "explore", CASE, "--failures", 2)
    assert code == 0
    assert "failures cannot be seen" in out
    code, reduced, _ = conformance("model", "explore", CASE, "--failures", 2, "--json")
    code, full, _ = conformance("model", "explore", CASE, "--failures", 2, "--every-interleaving", "--json")
    (reduced,), (full,) = lines(reduced), lines(full)
    assert reduced["states"] < full["states"]
    assert reduced["outs"] == full["outs"]


def test_explore_stops_at_its_limit(conformance):
    code, _, err = conformance("model", "explore", CASE, "--most", 5)
    assert code == 3
    assert "more than 5 configurations" in err


def test_a_case_too_large_to_explore_does_not_stop_the_others(conformance):
    other = Path(__file__).parents[2] / "generators" / "corpus" / "paper-observed-execution.json"
    code, out, err = conformance("model", "explore", CASE, other, "--failures", 0, "--most", 20, "--json")
    assert code == 3
    (found,) = lines(out)
    assert found["case"] == str(CASE)
    assert found["transparent"]
    assert f"{other}: there are more than 20 configurations" in err


def test_a_failure_that_never_fired_is_reported(conformance, tmp_path):
    case = json.loads(Path(CASE).read_text())
    case["failures"] = [{"kind": "restart", "epoch": 2}, {"kind": "crash", "task": "average", "epoch": 1, "event": 0}]
    file = tmp_path / "case.json"
    file.write_text(json.dumps(case))
    code, _, err = conformance("model", "run", file)
    assert code == 0
    assert "1 of 2 failures did not fire" in err


def test_a_refused_case_is_exit_2_without_a_traceback(conformance, tmp_path):
    file = tmp_path / "case.json"
    file.write_text("{}")
    code, out, err = conformance("model", "run", file)
    assert (code, out) == (2, "")
    assert err.startswith(f"Malformed: {file}: $: found no field format")
    assert conformance("model", "run", tmp_path / "missing")[0] == 2
    assert conformance("model", "jump")[0] == 2
    assert conformance("nothing")[0] == 2


def test_a_bug_of_ours_is_exit_70_and_says_what_to_report(conformance, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr("conformance.cli.model.execute", broken)
    code, _, err = conformance("model", "run", CASE)
    assert code == 70
    assert "ZeroDivisionError" in err
    assert "Please report it" in err


def test_ctrl_c_is_exit_130(conformance, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("conformance.cli.model.execute", interrupted)
    code, _, err = conformance("model", "run", CASE)
    assert code == 130
    assert "Interrupted" in err
    assert "Traceback" not in err


def test_help_imports_neither_the_model_nor_an_engine():
    script = (
        "import sys; sys.argv = ['conformance', '--help']\n"
        "from conformance.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'conformance.model', 'conformance.codec', 'hypothesis', 'pyspark', 'pyflink', 'rich', 'jinja2'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "Commands:" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"
