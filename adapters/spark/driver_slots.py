"""Launching of drivers, and slots that replace a driver when it was killed."""

import logging
import threading
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from conformance.adapters.spark.driver_process import DriverProcess
from conformance.adapters.spark.setup import LOOPBACK, SparkSetup, python_path

LOGGER = logging.getLogger("conformance.adapters.spark")

JAVA_OPTIONS = (
    # A driver lives for about a minute, in which optimizing compilation does not pay: it takes two fifths of the time.
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
    # Every driver loads thousands of Spark's classes; verifying them each time is not needed.
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote "
    # Hadoop starts other programs to read attributes of files.
    "-Djdk.lang.Process.launchMechanism=VFORK"
)
"""Options that make a driver start quickly."""


class DriverLauncher:
    """Launches the drivers of an engine, and ends them."""

    def __init__(self, setup: SparkSetup, folder: Path, environment: Mapping[str, str]) -> None:
        self._setup = setup
        self._folder = folder
        self._environment = environment
        self._drivers: list[DriverProcess] = []
        self._lock = threading.Lock()
        self._home = folder / "home"
        (folder / "tmp").mkdir()
        _imitate_home(self._home)

    def launch(self, attempts: int) -> DriverProcess:
        """Start a driver that tries a task so often."""
        # A killed driver removes none of its files, so they are all within our folder.
        tmp = str(self._folder / "tmp")
        conf = self._setup.conf(attempts) | {
            "spark.local.dir": tmp,
            "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={tmp} {JAVA_OPTIONS}",
            "spark.sql.warehouse.dir": str(self._folder / "warehouse"),
        }
        environment = {
            **self._environment,
            "PYTHONPATH": python_path(),
            "SPARK_HOME": str(self._home),
            **({"SPARK_LOCAL_IP": LOOPBACK} if self._setup.is_on_this_machine else {}),
        }
        with self._lock:
            master = self._setup.master_for(attempts)
            driver = DriverProcess(master, conf, environment)
            LOGGER.info("driver %d: launched on %s, attempts of a task: %d", driver.id, master, attempts)
            for dead in [each for each in self._drivers if each.is_dead]:
                dead.close()
                self._drivers.remove(dead)
            self._drivers.append(driver)
        return driver

    def end_all(self) -> None:
        """End all drivers."""
        for driver in self._drivers:
            driver.end()


class DriverSlot:
    """
    One driver at a time, which tries a task so often, replaced when it is dead.

    The start of a driver takes as long as a case. So the next driver starts before a kill of the current one, and only
    if a kill is expected.
    """

    def __init__(self, launcher: DriverLauncher, attempts: int) -> None:
        self.attempts = attempts
        self._launcher = launcher
        self._driver: DriverProcess | None = None
        self._reserve: DriverProcess | None = None

    def driver(self, *, expect_kill: bool = False) -> DriverProcess:
        """Return a driver that is ready; start another one in reserve if a kill of this one is expected."""
        if self._driver is None or self._driver.is_dead:
            self._driver, self._reserve = self._reserve or self._launcher.launch(self.attempts), None
        if expect_kill and self._reserve is None:
            self._reserve = self._launcher.launch(self.attempts)
        self._driver.wait_until_ready()
        return self._driver


def _imitate_home(home: Path) -> None:
    """
    Create a home for Spark of links to all files of the real one, except the folder `work`.

    On a local cluster, workers write into `work` within Spark's home, which is a folder of Python's site-packages.
    """
    spec = find_spec("pyspark")
    assert spec is not None  # noqa: S101 - the engine has checked that it is installed
    assert spec.origin is not None  # noqa: S101
    home.mkdir()
    for file in Path(spec.origin).parent.iterdir():
        if file.name != "work":
            (home / file.name).symlink_to(file)
