"""
The wheel in an environment of its own, run in a project whose packages are named like our folders.

`tox -e release` names an environment with the wheel to publish; otherwise a wheel is built from the checkout.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path

import pytest
from attrs import frozen

from conformance import __version__

pytestmark = pytest.mark.campaign

CHECKOUT = Path(__file__).parents[2]
SUBPACKAGES = ("adapters", "generators", "reports")
OUR_FOLDERS = (*SUBPACKAGES, "tests")
INSTALLATION = "CONFORMANCE_INSTALLATION"
RUST_KIT = Path("adapters", "kit", "rust")
NOT_COPIED = (".git", ".tox", ".venv", ".hypothesis", ".*_cache", "build", "dist", "__pycache__")


@frozen
class Installation:
    """A virtual environment with the wheel in it."""

    folder: Path

    def run(self, command, *arguments, within):
        """Run a command of the environment; give what it printed."""
        where = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
        done = subprocess.run(
            [self.folder / "bin" / command, *map(str, arguments)],
            cwd=within,
            env=where,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def files(self):
        """Give the files that the wheel brought, without the command and what Python compiled."""
        code = "from importlib.metadata import files; print(*files('dataflow-conformance'), sep='\\n')"
        found = self.run("python", "-c", code, within=self.folder).splitlines()
        return {file for file in found if not file.startswith("../") and "__pycache__" not in file}


def pip(*arguments):
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *map(str, arguments)]
    subprocess.run(command, check=True)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """
    The wheel, built from the checkout and installed without its dependencies, which would take a minute to download.

    They are those of the running environment instead. Its site-packages come last in the path, so of its own copy of
    the suite nothing is used. The checkout is copied, because it gets the build output of a kit.
    """
    if given := os.environ.get(INSTALLATION):
        return Installation(Path(given))
    folder = tmp_path_factory.mktemp("installed")
    shutil.copytree(CHECKOUT, folder / "checkout", symlinks=True, ignore=shutil.ignore_patterns(*NOT_COPIED))
    (folder / "checkout" / RUST_KIT / "target").mkdir(exist_ok=True)
    (folder / "checkout" / RUST_KIT / "target" / "adapter").touch()
    pip("wheel", "--no-deps", "--wheel-dir", folder / "wheels", folder / "checkout")
    (wheel,) = (folder / "wheels").iterdir()
    venv.create(folder / "venv", symlinks=True)
    python = folder / "venv" / "bin" / "python"
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    pip("--python", python, "install", "--no-deps", wheel)
    running = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site / "dependencies.pth").write_text("\n".join(running) + "\n")
    return Installation(folder / "venv")


@pytest.fixture
def project(tmp_path):
    """A project that has packages named like our folders; importing any of them is an error."""
    for name in OUR_FOLDERS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f'raise ImportError("{name} of the project was imported")\n')
    (tmp_path / "pyproject.toml").write_text("[tool.conformance]\ncases = 2\n")
    return tmp_path


def test_the_wheel_brings_one_import_name(installed):
    names = {file.split("/")[0] for file in installed.files()}
    assert names == {"conformance", f"dataflow_conformance-{__version__}.dist-info"}


def test_the_wheel_has_every_file_of_our_packages(installed):
    folders = {f"conformance/{name}": CHECKOUT / name for name in SUBPACKAGES}
    folders["conformance"] = CHECKOUT / "conformance"
    ours = {
        f"{name}/{path.relative_to(folder).as_posix()}"
        for name, folder in folders.items()
        for path in folder.rglob("*")
        if path.is_file() and not {"__pycache__", "target"} & set(path.parts)
    }
    assert {file for file in installed.files() if file.startswith("conformance/")} == ours


def test_every_engine_is_listed_from_an_empty_folder(installed, tmp_path):
    engines = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["entry-points"]["conformance.engines"]
    listed = installed.run("conformance", "engines", within=tmp_path)
    assert set(engines) <= {line.split(":")[0].split()[0] for line in listed.splitlines() if line.strip()}
    assert f"reference {__version__}: ready" in listed


def test_the_wheel_has_the_kits_without_their_build_output(installed):
    (kit,) = installed.folder.glob(f"lib/python*/site-packages/conformance/{RUST_KIT}")
    assert (kit / "Cargo.toml").is_file()
    assert not (kit / "target").exists()


def test_it_is_the_installed_package_that_runs(installed, project):
    file = installed.run("python", "-c", "import conformance; print(conformance.__file__)", within=project)
    assert Path(file).is_relative_to(installed.folder)
    for command in (["python", "-m", "conformance"], ["conformance"]):
        assert __version__ in installed.run(*command, "--version", within=project)


def test_an_engine_is_certified_beside_packages_named_like_ours(installed, project):
    installed.run("python", "-m", "conformance", "certify", "reference", "--cases", 10, "--out", "out", within=project)
    assert (project / "out" / "index.html").is_file()
    installed.run("conformance", "verify", "out/certificate.json", within=project)


def test_the_pytest_plugin_works_beside_packages_named_like_ours(installed, project):
    arguments = ("-m", "pytest", "--conformance-engine", "reference", "-p", "no:cacheprovider", "-p", "no:xdist")
    assert "7 passed" in installed.run("python", *arguments, within=project)


def test_a_kit_is_written_and_runs_beside_packages_named_like_ours(installed, project):
    installed.run("conformance", "kit", "mine", "--language", "python", within=project)
    installed.run("conformance", "smoke", "stdio:python3 adapter.py", within=project / "mine")
