"""Names of engines on the command line: misspelled, incomplete, repeated, or of programs that are no engines."""

from importlib import import_module
from pathlib import Path

import pytest

from conformance import registry
from conformance.errors import EngineUnavailable

pytestmark = [pytest.mark.usefixtures("somewhere")]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Flink", "Did you mean 'flink'?"),
        ("sparc", "Did you mean 'spark'?"),
        ("flink:proceses", "Did you mean 'processes'?"),
        ("spark:Local-cluster", "Did you mean 'local-cluster'?"),
        ("mutant:alias", "near it are aliased"),
        ("mutant", "mutant:aliased"),
        ("flink:", "omit the colon"),
        ("reference:", "omit the colon"),
        ("stdio:", "stdio wants a command line"),
    ],
)
def test_a_wrong_name_is_refused_with_a_hint(conformance, name, said):
    code, _, err = conformance("certify", name)
    assert (code, said in err) == (2, True), err


def test_an_engine_that_is_named_twice_is_refused(conformance):
    code, _, err = conformance("certify", "reference", "reference")
    assert (code, "reference is named 2 times" in err) == (2, True), err


def test_a_program_that_is_no_adapter_is_explained(conformance):
    code, _, err = conformance("certify", "stdio:true")
    assert code == 4
    assert "it did not answer start: it ended early, with exit code 0" in err
    assert "`conformance smoke` checks it" in err


@pytest.mark.parametrize("returned", ["5", "None", "Description(1, 2, 3, 4)"])
def test_a_start_that_returns_no_description_is_explained(conformance, returned):
    Path("odd.py").write_text(
        "from conformance.engine import Description\n"
        "class Odd:\n"
        "    def __init__(self, settings): pass\n"
        f"    def start(self): return {returned}\n"
        "    def run(self, requests): return []\n"
        "    def stop(self): pass\n"
    )
    code, _, err = conformance("certify", "python:odd:Odd")
    assert code == 4
    assert "Description" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("engine", "package", "version"), [("spark", "pyspark", "3.5.7"), ("flink", "apache-flink", "1.20.5")]
)
def test_an_unsupported_version_is_refused_by_name(engine, package, version, monkeypatch):
    module = import_module(f"conformance.adapters.{engine}")
    monkeypatch.setattr(module, "version", {package: version}.__getitem__)
    with pytest.raises(EngineUnavailable, match=rf"{engine} {version} is not supported, \S+ is: .*pip install"):
        registry.engine(engine).start()
