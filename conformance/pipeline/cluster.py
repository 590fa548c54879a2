"""
A Spark of our own: a session for a master, and nothing left of it afterwards.

Nothing here imports pyspark before a session is asked for, so the rest of the tool works without it.
"""

import logging
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any

from conformance.adapters.jvm import java_home
from conformance.adapters.spark.setup import python_path
from conformance.errors import ConformanceError, EngineUnavailable

MASTERS = "local[N], local[*], local-cluster[WORKERS,CORES,MEGABYTES] or spark://HOST:PORT"
_MASTER = re.compile(
    r"(?P<local>local(\[(\*|[1-9]\d*)(,\d+)?\])?)"
    r"|(?P<workers>local-cluster\[[1-9]\d*,[1-9]\d*,[1-9]\d*\])"
    r"|spark://(?P<host>[A-Za-z0-9_.-]+):(?P<port>\d{1,5})(,[A-Za-z0-9_.:,-]+)?"
)

MEMORY = "4g"
"""Of the driver, unless the user has said otherwise."""

ANSWER = 5.0
"""Seconds in which a master has to answer, and in which a JVM has to be gone."""

LAST_LINES = 5

USUAL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.pandas.structHandlingMode": "dict",
    "spark.sql.shuffle.partitions": "16",
}

LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


class UnknownMaster(ConformanceError):
    """A word that names no Spark."""

    exit_code = 2


class _Heard(BaseException):
    """A signal. Of a KeyboardInterrupt, Spark's gateway makes a log entry with a traceback."""


@contextmanager
def session(master: str, settings: Mapping[str, str] | None = None) -> Iterator[Any]:
    """
    A SparkSession on that master, for as long as the block lasts.

    All that it writes stands in a temporary folder, which is removed; its JVM is ended with it, also after an error or
    Ctrl-C. Only one can be open in a process.
    """
    check(master)
    folder = Path(tempfile.mkdtemp(prefix="conformance-spark-"))
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    environment = dict(os.environ)
    heard: list[int] = []

    def hear(number: int, _: object) -> None:
        heard.append(number)
        # Spark's gateway would log that its conversation was cut off. That is what was wanted.
        logging.getLogger("py4j").setLevel(logging.CRITICAL)
        raise _Heard

    spark, app = None, ""
    try:
        _listen(dict.fromkeys(before, hear))
        spark = _started(master, folder, settings or {})
        app = spark.sparkContext.applicationId
        # Spark has put a handler there that talks to its JVM, perhaps in the middle of a sentence.
        _listen(dict.fromkeys(before, hear))
        yield spark
    except BaseException:
        if heard:
            # Whatever became of it on its way through Spark.
            raise _interruption(heard[0]) from None
        raise
    finally:
        # Whoever presses Ctrl-C twice still wants nothing to be left.
        _listen(dict.fromkeys(before, signal.SIG_IGN))
        try:
            _stop(spark, app, master, politely=not heard)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            os.environ.clear()
            os.environ.update(environment)
            _listen(before)


def _listen(handlers: Mapping[signal.Signals, Any]) -> None:
    with suppress(ValueError):  # Only the main thread hears signals.
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _interruption(number: int) -> BaseException:
    return KeyboardInterrupt() if number == signal.SIGINT else SystemExit(128 + number)


def check(master: str) -> None:
    """Say at once what would otherwise be found out after a minute, in Java."""
    match = _MASTER.fullmatch(master)
    if match is None:
        raise UnknownMaster(f"{master!r} is no master of Spark; it can be {MASTERS}")
    for package in ("pyspark", "pyarrow", "pandas"):
        if find_spec(package) is None:
            raise EngineUnavailable(f"--on needs {package}: pip install 'dataflow-conformance[spark]'")
    if match["host"]:
        try:
            socket.create_connection((match["host"], int(match["port"])), timeout=ANSWER).close()
        except (OSError, OverflowError) as error:
            raise EngineUnavailable(
                f"nobody answers at {master} ({error}); start a master there, or use local[*]"
            ) from None


def _started(master: str, folder: Path, settings: Mapping[str, str]) -> Any:
    from pyspark.sql import SparkSession  # noqa: PLC0415 - see above

    local = master.startswith("local")
    here = str(Path(__file__).parents[2])
    os.environ.update(java_home("Spark", folder))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if local:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    places = {
        "spark.local.dir": str(folder),
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={folder} -Dderby.system.home={folder}",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    if local:
        # Python workers find this package where we did, installed or not.
        places["spark.executorEnv.PYTHONPATH"] = python_path(here)
    memory = {} if _memory_is_configured() else {"spark.driver.memory": MEMORY}
    builder = SparkSession.builder.master(master).appName("dataflow-conformance")
    for name, value in {**USUAL, **(LOOPBACK if local else {}), **places, **memory, **settings}.items():
        builder = builder.config(name, value)
    said = folder / "stderr"
    try:
        with _stderr_to(said):
            spark = builder.getOrCreate()
    except Exception as error:
        raise EngineUnavailable(f"Spark does not start on {master}: {_why(error, said)}") from error
    return spark


def _memory_is_configured() -> bool:
    """Whether the user has said how much memory a driver gets, in any of the places that Spark looks at."""
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
    """What the JVM says while it starts, and later, is kept in a file: it is for us, if anything goes wrong."""
    kept = os.dup(2)
    with file.open("wb") as log:
        os.dup2(log.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _why(error: Exception, said: Path) -> str:
    with suppress(OSError):
        lines = said.read_text(encoding="utf-8", errors="replace").splitlines()
        told = [line.strip() for line in lines if "Exception" in line or "rror" in line][:LAST_LINES]
        if told:
            return " / ".join(told)
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _stop(spark: Any, app: str, master: str, *, politely: bool) -> None:
    """
    Stop the session and end its JVM, so that the next session may be another one.

    What was interrupted in the middle of a conversation cannot be asked to stop: then its JVM is ended at once.
    """
    from pyspark import SparkContext  # noqa: PLC0415 - see above

    home: Any = import_module("pyspark.find_spark_home")
    work = None
    if spark is not None:
        work = Path(home._find_spark_home(), "work", app)  # noqa: SLF001
        with suppress(Exception):
            if politely:
                spark.stop()
            else:
                # It would be surprised, in a traceback, that nobody is there any more.
                spark.sparkContext._accumulatorServer.shutdown()  # noqa: SLF001
    gateway: Any = SparkContext._gateway  # noqa: SLF001 - pyspark has no other way to end its JVM
    if gateway is not None:
        process = getattr(gateway, "proc", None)
        if politely:
            with suppress(Exception):
                gateway.shutdown()
        if process is not None:
            with suppress(OSError):
                process.stdin.close()
            try:
                process.wait(timeout=ANSWER)
            except TimeoutExpired:
                process.kill()
                process.wait()
        SparkContext._gateway = None  # noqa: SLF001
        SparkContext._jvm = None  # noqa: SLF001
    if work is not None and app and master.startswith("local-cluster"):
        # Workers of a local cluster insist on writing beside Spark itself.
        shutil.rmtree(work, ignore_errors=True)
        with suppress(OSError):
            work.parent.rmdir()
