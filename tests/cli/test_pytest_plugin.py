"""`pytest --conformance-engine`, and the four lines that an engine's own repository needs."""

import subprocess
import sys
from pathlib import Path

import pytest

from conformance.generators import corpus

pytest_plugins = ["pytester"]

FOUR_LINES = """
from conformance.pytest_plugin import guarantees

@guarantees
def test_failures_cannot_be_seen(conformance, guarantee):
    conformance("{engine}").check(guarantee)
"""


@pytest.fixture
def inside(pytester, monkeypatch):
    """Runs pytest in a project of its own, on a few cases; the engines of the tests can be imported there."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    pytester.makepyprojecttoml("[tool.conformance]\ncases = 2\nshrink-runs = 10\n")
    return lambda *arguments: pytester.runpytest_subprocess(*arguments, "-p", "no:cacheprovider", "-p", "no:xdist")


@pytest.mark.campaign
def test_every_guarantee_of_a_named_engine_is_a_test(inside, pytester):
    inside("--conformance-engine", "reference", "-v").assert_outcomes(passed=7)
    assert (pytester.path / "build/conformance/latest/certificate.json").exists()


@pytest.mark.campaign
def test_a_broken_guarantee_fails_with_its_counterexample(inside):
    found = inside("--conformance-engine", "mutant:appended-on-replay")
    assert found.parseoutcomes()["failed"] >= 1
    found.stdout.fnmatch_lines(
        [
            "*mutant:appended-on-replay: no duplicates*",
            "duplicated: *",
            "See it: conformance run */counterexamples/1.json *",
        ]
    )


@pytest.mark.campaign
def test_four_lines_do_the_same_and_the_campaign_is_run_once(inside, pytester):
    pytester.makepyfile(FOUR_LINES.format(engine="mutant:appended-on-replay"))
    found = inside()
    outcomes = found.parseoutcomes()
    assert outcomes["failed"] + outcomes["passed"] == 7
    found.stdout.fnmatch_lines(["*Broken: duplicated: *"])
    assert len(list((pytester.path / "build/conformance").glob("mutant-*"))) == 1


@pytest.mark.campaign
def test_an_inconclusive_campaign_fails_the_tests(inside, pytester):
    pytester.makepyfile(FOUR_LINES.format(engine="python:tests.engines:Unarmed"))
    found = inside()
    found.assert_outcomes(failed=7)
    of = f"Of {len(corpus()) + 2} cases"
    found.stdout.fnmatch_lines([f"*Broken: inconclusive: {of} * say nothing (* not exercised): more than 2%."])


@pytest.mark.campaign
def test_strict_markers_without_xdist_are_no_error(inside):
    inside("--conformance-engine", "reference", "--strict-markers", "-W", "error").assert_outcomes(passed=7)


def test_an_engine_that_cannot_start_is_one_error(inside, pytester):
    found = inside("--conformance-engine", "stdio:/no/such/adapter")
    found.assert_outcomes(errors=1, skipped=6)
    found.stdout.fnmatch_lines(["EngineUnavailable: its command cannot be run: *"])
    assert not (pytester.path / "build").exists()


def test_an_engine_that_cannot_start_fails_one_test_of_the_four_lines(inside, pytester):
    pytester.makepyfile(FOUR_LINES.format(engine="stdio:/no/such/adapter"))
    inside().assert_outcomes(failed=1, skipped=6)


def test_loading_the_plugin_imports_no_more_than_pytest_does():
    code = (
        "import sys, pytest, _pytest.config\n"
        "import conformance.pytest_plugin\n"
        "heavy = ('numpy', 'hypothesis', 'conformance.adapters', 'conformance.generators')\n"
        "print([m for m in sys.modules if m.startswith(heavy)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_without_the_option_nothing_is_added(pytester):
    pytester.makepyfile("def test_one(): pass")
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_the_guarantees_are_those_of_the_certificate():
    from conformance import pytest_plugin  # noqa: PLC0415
    from conformance.campaign.events import GUARANTEES  # noqa: PLC0415

    assert tuple(GUARANTEES) == pytest_plugin.GUARANTEES
