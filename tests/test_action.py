"""The GitHub Action: its steps as a runner executes them, and the workflow that engines' repositories copy."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import frozen

pytestmark = pytest.mark.campaign

ROOT = Path(__file__).parents[1]
ACTION = (ROOT / "action.yml").read_text(encoding="utf-8")
WORKFLOW = (ROOT / "docs" / "conformance.yml").read_text(encoding="utf-8")
CI = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "continuous-integration.md").read_text(encoding="utf-8")

DEFAULTS = dict(re.findall(r'^  ([\w-]+):\n    description: .+\n    default: "(.*)"$', ACTION, re.MULTILINE))
VARIABLES = dict(re.findall(r"^        ([A-Z]+): \$\{\{ inputs\.([\w-]+) \}\}$", ACTION, re.MULTILINE))
CORPUS = len(list((ROOT / "generators" / "corpus").glob("*.json")))
STEPS = dict(re.findall(r"^    - name: (\w+)\n(?:      .+\n)*?      run: (.+)$", ACTION, re.MULTILINE))


@frozen
class Step:
    """A step that was run: its exit code, and what it printed and wrote."""

    code: int
    printed: str
    summary: str
    outputs: dict[str, str]


def run_step(name, folder, *, path=Path(sys.executable).parent, **inputs):
    """Run a step as a runner does: the script in a file of its own, the inputs in variables."""
    runner = folder / "runner"
    runner.mkdir()
    (runner / "step.sh").write_text(STEPS[name])
    files = {"GITHUB_OUTPUT": runner / "output", "GITHUB_STEP_SUMMARY": runner / "summary.md"}
    for file in files.values():
        file.touch()
    values = {variable: (DEFAULTS | inputs)[name] for variable, name in VARIABLES.items()}
    paths = {"PATH": f"{path}{os.pathsep}{os.environ['PATH']}", "GITHUB_ACTION_PATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", runner / "step.sh"],
        cwd=folder,
        env={**os.environ, **paths, **{name: str(file) for name, file in files.items()}, **values},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
    return Step(done.returncode, done.stdout, files["GITHUB_STEP_SUMMARY"].read_text(), outputs)


def test_a_conforming_engine_is_certified_and_summarized(tmp_path):
    step = run_step("Certify", tmp_path, engines="reference", cases="2", seed="7")
    assert step.code == 0, step.printed
    assert step.outputs == {"results": str(tmp_path / "conformance-results")}
    assert (tmp_path / "conformance-results" / "index.html").is_file()
    assert '"seed": 7' in (tmp_path / "conformance-results" / "certificate.json").read_text()
    heading, shown, where = re.fullmatch(r"(.+)\n\n((?:    .*\n)+)\n(.+)\n", step.summary).groups()
    assert heading == "### Conformance"
    assert shown.startswith(f"    reference: conforms. All that was seen of {CORPUS + 2} cases")
    assert where == "The report is `index.html` in the artifact `conformance-results`."


def test_a_violation_is_the_exit_code_and_the_results_are_there(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.conformance]\nshrink-runs = 1\n")
    out = tmp_path / "elsewhere"
    step = run_step("Certify", tmp_path, engines="mutant:appended-on-replay", cases="0", out=str(out))
    assert step.code == 1, step.printed
    assert step.outputs == {"results": str(out)}
    assert (out / "index.html").is_file()
    assert "    mutant:appended-on-replay: violates." in step.summary


def test_engines_are_named_one_a_line_and_may_have_spaces(tmp_path):
    step = run_step("Certify", tmp_path, engines="\n  reference\n\nmutant:no such mutant\n", cases="0")
    assert step.code == 2
    assert "no such mutant" in step.printed


def test_without_engines_the_settings_of_the_project_hold(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.conformance]\nengines = ["reference"]\ncases = 1\n')
    step = run_step("Certify", tmp_path)
    assert step.code == 0, step.printed
    assert f"    reference: conforms. All that was seen of {CORPUS + 1} cases" in step.summary


def test_an_engine_that_cannot_run_is_in_the_summary(tmp_path):
    step = run_step("Certify", tmp_path, engines="stdio:./missing")
    assert step.code == 4, step.printed
    assert step.summary.endswith("\n\nNothing was certified: exit code 4. The log of the step says why.\n")


def test_a_project_may_have_a_package_named_like_ours(tmp_path):
    (tmp_path / "conformance").mkdir()
    (tmp_path / "conformance" / "__init__.py").write_text("raise ImportError\n")
    assert run_step("Certify", tmp_path, engines="reference", profile="none").code == 2


@pytest.mark.parametrize("name", ["engines", "profile", "cases", "seed", "out"])
@pytest.mark.parametrize("hostile", ["$(touch pwned)", "`touch pwned`", '"; touch pwned; "', "--help"])
def test_no_input_is_run_by_the_shell_or_taken_for_an_option(tmp_path, name, hostile):
    asked = {"engines": "stdio:./missing", "cases": "0"} | {name: hostile}
    step = run_step("Certify", tmp_path, **asked)
    assert step.code in {2, 4}, step.printed
    assert list(tmp_path.rglob("pwned")) == []


@pytest.mark.parametrize(
    ("extras", "installed"),
    [("", str(ROOT)), ("flink,spark", f"{ROOT}[flink,spark]"), ("a b; $(c)", f"{ROOT}[a b; $(c)]")],
)
def test_the_action_installs_its_own_checkout_with_the_extras(tmp_path, extras, installed):
    recorder = tmp_path / "bin" / "python"
    recorder.parent.mkdir()
    recorder.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    recorder.chmod(0o755)
    step = run_step("Install", tmp_path, path=recorder.parent, extras=extras)
    assert step.printed.splitlines()[:3] == ["-m", "pip", "install"]
    assert step.printed.splitlines()[-1] == installed


def test_every_script_is_one_line_without_an_expression():
    assert len(STEPS) == len(re.findall(r"\brun:", ACTION)) == 2
    assert [line for line in STEPS.values() if "${{" in line or line in {"|", ">"}] == []


def test_every_input_is_used_and_documented_with_its_default():
    rows = re.findall(r"^\| `([\w-]+)` \| (?:`(.*?)`)? ?\|", PAGE, re.MULTILINE)
    assert dict(rows) == DEFAULTS
    assert set(DEFAULTS) == set(re.findall(r"\binputs\.([\w-]+)", ACTION))


def test_the_workflow_gives_inputs_that_the_action_has():
    (given,) = re.findall(r"uses: OWNER/dataflow-conformance@REF\n        with:\n((?:          .+\n)+)", WORKFLOW)
    assert set(re.findall(r"^          ([\w-]+):", given, re.MULTILINE)) <= set(DEFAULTS)
    assert f"path: {DEFAULTS['out']}\n" in WORKFLOW


def test_the_same_versions_of_actions_are_used_everywhere():
    used = set(re.findall(r"uses: (actions/[\w-]+@\S+)", ACTION + WORKFLOW + CI))
    assert len(used) == len({name.split("@")[0] for name in used})
