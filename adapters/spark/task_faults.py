"""Faults that happen in Spark's Python workers, before an event or a border of a task."""

import json
import os
import signal
import socket
import time
from pathlib import Path

import psutil
from attrs import frozen

from conformance.adapters.faults import EVIDENCE, EvidenceLog, TaskPosition, inject_crash, is_crash_due, next_failure
from conformance.case import Failure, Kill

DRIVER = "driver.json"
"""The file in a query's folder with the host and the processes of its driver."""

EXECUTOR = "CoarseGrainedExecutorBackend"
"""A part of the command line of an executor."""


def is_executor(process: psutil.Process) -> bool:
    """Tell whether a process is one of Spark's executors."""
    return any(EXECUTOR in argument for argument in process.cmdline())


@frozen
class TaskFaults:
    """
    The failures of one case of a query that happen within its tasks.

    The query's supervisor injects the others, whose numbers are in `external`.
    """

    query_folder: str
    case: int
    failures: tuple[Failure, ...]
    external: frozenset[int] = frozenset()

    @property
    def evidence(self) -> EvidenceLog:
        """The evidence of all failures of the case."""
        return EvidenceLog(os.path.join(self.query_folder, EVIDENCE), self.case)  # noqa: PTH118 - called for each event

    def before(self, position: TaskPosition) -> None:
        """Inject the next failure of the case if it is due at this position."""
        number = self.evidence.count()
        if number in self.external:
            return
        failure = next_failure(self.failures, number)
        if is_crash_due(failure, position):
            inject_crash(self.evidence, number, position)
        elif isinstance(failure, Kill) and failure.epoch == position.epoch and failure.phase in {None, "processing"}:
            self._kill(number, failure, position)

    def _kill(self, number: int, failure: Kill, position: TaskPosition) -> None:
        victim, processes = self._victim(failure)
        if self.evidence.record(number, f"SIGKILL of {victim} {position} (process {os.getpid()})"):
            for process in processes:
                os.kill(process, signal.SIGKILL)
            time.sleep(3600)  # This worker dies with its executor or its driver.

    def _victim(self, failure: Kill) -> tuple[str, list[int]]:
        """Return the description and the processes of the victim."""
        if failure.target == "worker":
            executor = next((each for each in psutil.Process().parents() if is_executor(each)), None)
            if executor is not None:
                return "the executor of", [executor.pid]
            return "the Python worker of", [os.getpid()]
        driver = json.loads(Path(self.query_folder, DRIVER).read_text(encoding="utf-8"))
        if driver["host"] != socket.gethostname():
            raise RuntimeError("the driver is on another machine, so no task can kill it")
        return "the driver by", driver["processes"]
