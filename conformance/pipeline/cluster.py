"""
A Spark session for a master. After it, no process and no file of it remains.

pyspark is imported only when a session is started, so the rest of the tool works without it.
"""

import logging
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any

from conformance.adapters.jvm import find_java
from conformance.adapters.spark.master import ADDRESSES, check_master
from conformance.adapters.spark.setup import LOOPBACK, LOOPBACK_CONF, python_path
from conformance.adapters.subprocess_engine import REMARKS
from conformance.errors import ConformanceError, EngineUnavailable, install_hint

MASTERS = "local[N], local[*], local-cluster[WORKERS,CORES,MEGABYTES] or spark://HOST:PORT"
_MASTER = re.compile(
    r"(?P<local>local(\[(\*|[1-9]\d*)(,\d+)?\])?)"
    r"|(?P<workers>local-cluster\[[1-9]\d*,[1-9]\d*,[1-9]\d*\])"
    rf"|{ADDRESSES}"
)

MEMORY = "4g"
"""The memory of the driver, unless the user has configured another."""

EXIT_SECONDS = 5.0
"""Seconds in which a JVM has to exit."""

LAST_LINES = 5

DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.pandas.structHandlingMode": "dict",
    "spark.sql.shuffle.partitions": "16",
}


class UnknownMaster(ConformanceError):
    """A name that is no Spark master."""

    exit_code = 2


class _Signalled(BaseException):
    """A signal arrived. No KeyboardInterrupt, which Spark's gateway would log with a traceback."""


@contextmanager
def session(master: str, settings: Mapping[str, str] | None = None) -> Iterator[Any]:
    """
    Open a SparkSession on a master while the block runs.

    It writes into a temporary folder, which is removed. Its JVM is ended with it, also after an error or Ctrl-C. Only
    one session can be open in a process.
    """
    check(master)
    folder = Path(tempfile.mkdtemp(prefix="conformance-spark-"))
    former_handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    environment = dict(os.environ)
    signals: list[int] = []

    def handle(number: int, _: object) -> None:
        signals.append(number)
        # Without this, Spark's gateway logs that its connection was cut: some of that with the root logger.
        logging.getLogger("py4j").setLevel(logging.CRITICAL)
        logging.disable(logging.ERROR)
        raise _Signalled

    spark, app = None, ""
    try:
        _handle_signals(dict.fromkeys(former_handlers, handle))
        spark = _started(master, folder, settings or {})
        app = spark.sparkContext.applicationId
        # Spark has installed a handler that calls its JVM, perhaps in the middle of another call.
        _handle_signals(dict.fromkeys(former_handlers, handle))
        yield spark
    except BaseException:
        if signals:
            # Spark may have turned the signal into another exception.
            raise _interruption(signals[0]) from None
        raise
    finally:
        # A second Ctrl-C must not interrupt the cleanup.
        _handle_signals(dict.fromkeys(former_handlers, signal.SIG_IGN))
        try:
            _stop(spark, app, master, orderly=not signals)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            os.environ.clear()
            os.environ.update(environment)
            logging.disable(logging.NOTSET)
            _handle_signals(former_handlers)


def _handle_signals(handlers: Mapping[signal.Signals, Any]) -> None:
    with suppress(ValueError):  # Only the main thread handles signals.
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _interruption(number: int) -> BaseException:
    return KeyboardInterrupt() if number == signal.SIGINT else SystemExit(128 + number)


def check(master: str) -> None:
    """Refuse a master that cannot work."""
    if _MASTER.fullmatch(master) is None:
        raise UnknownMaster(f"{master!r} is no Spark master; give {MASTERS}")
    for package in ("pyspark", "pyarrow", "pandas"):
        if find_spec(package) is None:
            raise EngineUnavailable(f"--on needs {package}: {install_hint('spark')}")
    check_master(master, "use local[*]")


def _started(master: str, folder: Path, settings: Mapping[str, str]) -> Any:
    from pyspark.sql import SparkSession  # noqa: PLC0415 - see above

    local = master.startswith("local")
    package_folder = str(Path(__file__).parents[2])
    java = find_java("Spark", folder)
    for remark in java.remarks:
        REMARKS.warning("Spark: %s", remark)
    os.environ.update(java.environment)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if local:
        os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
    folders = {
        "spark.local.dir": str(folder),
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={folder} -Dderby.system.home={folder}",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    if local:
        # Python workers import this package from the same folder, installed or not.
        folders["spark.executorEnv.PYTHONPATH"] = python_path(package_folder)
    memory = {} if _memory_is_configured() else {"spark.driver.memory": MEMORY}
    builder = SparkSession.builder.master(master).appName("dataflow-conformance")
    for name, value in {**DEFAULTS, **(LOOPBACK_CONF if local else {}), **folders, **memory, **settings}.items():
        builder = builder.config(name, value)
    stderr = folder / "stderr"
    try:
        with _stderr_to(stderr):
            spark = builder.getOrCreate()
    except Exception as error:
        raise EngineUnavailable(f"Spark does not start on {master}: {_why(error, stderr)}") from error
    return spark


def _memory_is_configured() -> bool:
    """Tell whether the user has configured the memory of the driver, in any of the places that Spark reads."""
    if "SPARK_DRIVER_MEMORY" in os.environ or "driver" in os.environ.get("PYSPARK_SUBMIT_ARGS", ""):
        return True
    homes = [os.environ.get("SPARK_CONF_DIR"), os.environ.get("SPARK_HOME") and f"{os.environ['SPARK_HOME']}/conf"]
    for home in filter(None, homes):
        with suppress(OSError):
            if "spark.driver.memory" in Path(str(home), "spark-defaults.conf").read_text(encoding="utf-8"):
                return True
    return False


@contextmanager
def _stderr_to(file: Path) -> Iterator[None]:
    """Redirect stderr, which the JVM inherits, to a file that is read if Spark does not start."""
    kept = os.dup(2)
    with file.open("wb") as log:
        os.dup2(log.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _why(error: Exception, stderr: Path) -> str:
    with suppress(OSError):
        lines = stderr.read_text(encoding="utf-8", errors="replace").splitlines()
        errors = [line.strip() for line in lines if "Exception" in line or "rror" in line][:LAST_LINES]
        if errors:
            return " / ".join(errors)
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _stop(spark: Any, app: str, master: str, *, orderly: bool) -> None:
    """
    Stop the session and end its JVM, so that the next session can have another configuration.

    A session that was interrupted in the middle of a call cannot be asked to stop: its JVM is ended at once.
    """
    from pyspark import SparkContext  # noqa: PLC0415 - see above

    home: Any = import_module("pyspark.find_spark_home")
    work = None
    if spark is not None:
        work = Path(home._find_spark_home(), "work", app)  # noqa: SLF001
        with suppress(Exception):
            if orderly:
                spark.stop()
            else:
                # Without this, it prints a traceback when its connection closes.
                spark.sparkContext._accumulatorServer.shutdown()  # noqa: SLF001
    gateway: Any = SparkContext._gateway  # noqa: SLF001 - pyspark has no other way to end its JVM
    if gateway is not None:
        process = getattr(gateway, "proc", None)
        if orderly:
            with suppress(Exception):
                gateway.shutdown()
        if process is not None:
            with suppress(OSError):
                process.stdin.close()
            try:
                process.wait(timeout=EXIT_SECONDS)
            except TimeoutExpired:
                process.kill()
                process.wait()
        SparkContext._gateway = None  # noqa: SLF001
        SparkContext._jvm = None  # noqa: SLF001
    if work is not None and app and master.startswith("local-cluster"):
        # Workers of a local cluster always write into the folder of Spark itself.
        shutil.rmtree(work, ignore_errors=True)
        with suppress(OSError):
            work.parent.rmdir()
