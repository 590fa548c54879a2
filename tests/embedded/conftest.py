"""Real engines, each in its own process."""

import json
from pathlib import Path

import pytest
from attrs import evolve

from conformance.adapters.subprocess_engine import SubprocessEngine
from conformance.cli import main
from conformance.engine import RunRequest
from conformance.generators import corpus
from conformance.judge import judge


@pytest.fixture(scope="module")
def runs():
    """Run cases on an engine in batches; return the observations and the verdict of each."""
    engines = {}

    def run(name, cases):
        if name not in engines:
            engines[name] = SubprocessEngine(name), None
            engines[name] = engines[name][0], engines[name][0].start()
        engine, description = engines[name]
        assert not [feature for case in cases for feature in description.capabilities.unsupported(case)]
        observed = []
        for start in range(0, len(cases), description.batch):
            observed += engine.run([RunRequest(case) for case in cases[start : start + description.batch]])
        return [(each, judge(case, each)) for case, each in zip(cases, observed, strict=True)]

    yield run
    for engine, _ in engines.values():
        engine.stop()


@pytest.fixture
def certificate(tmp_path, monkeypatch):
    """Certify an engine on the corpus and a few cases; return exit code and certificate."""
    monkeypatch.chdir(tmp_path)

    def certify(name, cases):
        few = ["--cases", str(cases), "--shrink-runs", "20", "--shrink-seconds", "30"]
        with pytest.raises(SystemExit) as ended:
            main(["certify", name, *few, "--out", "results"])
        return ended.value.code, json.loads(Path("results/certificate.json").read_text())

    return certify


@pytest.fixture(scope="session")
def without_failures():
    """The cases of the corpus, without their failures."""
    return [evolve(case, failures=(), holds=()) for case in corpus().values()]
