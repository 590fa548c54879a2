"""Real engines, each in a process of its own."""

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
    """Runs cases on an engine, in batches as it likes them; gives what was seen of each, and the verdict."""
    engines = {}

    def run(word, cases):
        if word not in engines:
            engines[word] = SubprocessEngine(word), None
            engines[word] = engines[word][0], engines[word][0].start()
        engine, description = engines[word]
        assert not [beyond for case in cases for beyond in description.capabilities.unsupported(case)]
        seen = []
        for start in range(0, len(cases), description.batch):
            seen += engine.run([RunRequest(case) for case in cases[start : start + description.batch]])
        return [(each, judge(case, each)) for case, each in zip(cases, seen, strict=True)]

    yield run
    for engine, _ in engines.values():
        engine.stop()


@pytest.fixture
def certificate(tmp_path, monkeypatch):
    """Certifies an engine on the corpus and a few cases; gives exit code and certificate."""
    monkeypatch.chdir(tmp_path)

    def certify(word, cases):
        few = ["--cases", str(cases), "--shrink-runs", "20", "--shrink-seconds", "30"]
        with pytest.raises(SystemExit) as left:
            main(["certify", word, *few, "--out", "results"])
        return left.value.code, json.loads(Path("results/certificate.json").read_text())

    return certify


@pytest.fixture(scope="session")
def without_failures():
    """The graphs and inputs of the corpus, with nothing that goes wrong."""
    return [evolve(case, failures=(), holds=()) for case in corpus().values()]
