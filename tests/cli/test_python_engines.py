"""Engines in Python: the example, and one that another package provides."""

import json
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = [pytest.mark.campaign, pytest.mark.usefixtures("somewhere")]


def test_the_example_fits_on_a_screen_and_passes_smoke(conformance, monkeypatch):
    assert len((EXAMPLES / "my_engine.py").read_text().splitlines()) <= 60
    monkeypatch.chdir(EXAMPLES)
    code, out, _ = conformance("smoke", "python:my_engine:MyEngine")
    assert code == 0, out
    assert "failure crash of first in epoch 2, at border" in out


def test_the_example_is_certified(conformance, monkeypatch, tmp_path):
    monkeypatch.chdir(EXAMPLES)
    out = tmp_path / "results"
    assert conformance("certify", "python:my_engine:MyEngine", "--out", out)[0] == 0
    assert json.loads((out / "certificate.json").read_text())["cases"]["not exercised"] == 0


def test_an_installed_package_gives_its_engine_a_name_and_settings(conformance, monkeypatch, tmp_path):
    metadata = tmp_path / "site" / "theirs-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[conformance.engines]\ntheirs = their_engine:Theirs\n")
    (tmp_path / "site" / "their_engine.py").write_text(
        "from my_engine import MyEngine\n"
        "from conformance.errors import UnknownEngine\n"
        "class Theirs(MyEngine):\n"
        "    def __init__(self, settings):\n"
        "        if set(settings) - {'fast'}:\n"
        "            raise UnknownEngine(f'theirs has the setting fast, not {settings[0]}')\n"
    )
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.syspath_prepend(EXAMPLES)
    assert conformance("run", EXAMPLES / "incremental-average.json", "theirs:fast")[0] == 0
    code, _, err = conformance("run", EXAMPLES / "incremental-average.json", "theirs:slow")
    assert code == 2
    assert "theirs has the setting fast, not slow" in err
    _, out, _ = conformance("engines")
    assert "theirs 1.0: ready; failures: crash; programs: 10 of 10" in out
