"""
Build and test a release: `tox -e release`. Nothing is uploaded.

The sdist, and the wheel that is built from it, are made in a temporary folder. The wheel is installed in an empty
environment, with the dependencies that a user gets, and tested there. The two files are copied to dist/ only if all
that succeeds. Other files in dist/ stay there, so the last line names the files to upload.
"""

import os
import shlex
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
TESTS = ROOT / "tests" / "cli" / "test_installed.py"
INSTALLATION = "CONFORMANCE_INSTALLATION"
"""The environment variable that tells the tests which environment has the wheel."""


def main() -> None:
    """Build, check and test the release, copy it to dist/, and say what is left to do."""
    with TemporaryDirectory(prefix="conformance-release-") as temporary:
        folder = Path(temporary).resolve()
        sdist, wheel = build(folder / "built")
        python_module("twine", "check", "--strict", sdist, wheel, within=folder)
        check_installed(wheel, folder)
        files = copy([sdist, wheel], DIST)
    version = wheel.name.split("-")[1]
    for point in [*changelog_points(ROOT / "CHANGELOG.md", version), *git_points(ROOT)]:
        print(f"before you publish: {point}")
    twine = Path(sys.prefix) / "bin" / "twine"
    print(f"to publish: {shlex.join([shown(twine), 'upload', *map(shown, files)])}")


def build(folder: Path) -> tuple[Path, Path]:
    """Build the sdist from the checkout, and the wheel from the sdist."""
    python_module("build", "--outdir", folder, ROOT, within=folder.parent)
    (sdist,) = folder.glob("*.tar.gz")
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel


def check_installed(wheel: Path, folder: Path) -> None:
    """Install the wheel in an empty environment and run the tests of an installation there, in an empty folder."""
    environment, empty = folder / "environment", folder / "empty"
    venv.create(environment, symlinks=True)
    empty.mkdir()
    pip = ("--quiet", "--disable-pip-version-check", "--python", environment / "bin" / "python")
    python_module("pip", *pip, "install", wheel, "pytest", within=empty)
    run(environment / "bin" / "pytest", "-p", "no:cacheprovider", TESTS, within=empty, **{INSTALLATION: environment})


def copy(files: list[Path], dist: Path) -> list[Path]:
    """Copy files to dist/, and name each. A file of the same version is replaced, any other stays."""
    dist.mkdir(exist_ok=True)
    copies = [dist / file.name for file in files]
    for file, target in zip(files, copies, strict=True):
        print(f"{'replaced' if target.exists() else 'new'}: {shown(target)}")
        shutil.copyfile(file, target)
    return copies


def changelog_points(changelog: Path, version: str) -> list[str]:
    """Say what the changelog lacks."""
    has_section = f"## [{version}]" in changelog.read_text(encoding="utf-8")
    return [] if has_section else [f"{changelog.name} has no section [{version}]"]


def git_points(checkout: Path) -> list[str]:
    """Say what was built and is not committed. A release can also be built where there is no git."""
    try:
        command = ["git", "status", "--porcelain"]
        status = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    except OSError:
        return []
    return [f"not committed: {line[3:]}" for line in status.stdout.splitlines()]


def python_module(module: str, *arguments: Path | str, within: Path) -> None:
    """Run a module of the environment that runs this script."""
    run(sys.executable, "-m", module, *arguments, within=within)


def run(*command: Path | str, within: Path, **variables: Path) -> None:
    """Run a command that the checkout's and the caller's Python settings do not reach; exit if it fails."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    added = {name: str(value) for name, value in variables.items()}
    print(f"$ {shlex.join(map(str, command))}", flush=True)
    done = subprocess.run(command, cwd=within, env=kept | added, check=False)
    if done.returncode:
        sys.exit(f"This failed with exit code {done.returncode}; dist/ is as it was.")


def shown(path: Path) -> str:
    """Return a path as it is typed in the checkout."""
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


if __name__ == "__main__":
    main()
