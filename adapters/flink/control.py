"""
File-based control channel between the driver of a job and its operators, which run in other processes.

Status messages go from the operators to the driver: lines that are appended to one file for each case. Commands go the
other way: an empty file for each, whose name says all of it. Files are the transport because the operators may be in
containers, which share a folder with the driver and nothing else.
"""

import logging
import os
import time
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from attrs import frozen

from conformance.adapters.faults import EVIDENCE, EvidenceLog
from conformance.adapters.flink.messages import (
    AttemptOpened,
    AttemptOpening,
    Command,
    DelayRestore,
    GateReached,
    ReleaseGate,
    StatusMessage,
    StatusReport,
    format_command,
    format_report,
    parse_report,
)

LOGGER = logging.getLogger("conformance.adapters.flink")

GATE_SECONDS = 20.0
"""Seconds after which an operator leaves a gate that the driver has not released."""

POLL_SECONDS = 0.001


@frozen
class ControlChannel:
    """The control channel of one case of a job. It has no state besides its files, so it can be sent to workers."""

    folder: str
    case: int

    def __str__(self) -> str:
        return f"folder {Path(self.folder).name}, case {self.case}"

    def _path(self, *names: str) -> str:
        return os.path.join(self.folder, "control", str(self.case), *names)  # noqa: PTH118 - called for each event

    @property
    def evidence(self) -> EvidenceLog:
        """The evidence of the failures that were injected."""
        return EvidenceLog(self._path(EVIDENCE))

    def prepare(self) -> None:
        """Make the folders."""
        Path(self._path("commands")).mkdir(parents=True, exist_ok=True)
        self.evidence.prepare()

    # The operators' side

    def report(self, message: StatusMessage) -> None:
        """Report a status message to the driver. A short line is appended in one piece."""
        file = os.open(self._path("status"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            os.write(file, f"{format_report(StatusReport(time.time(), message))}\n".encode())
        finally:
            os.close(file)

    def is_signalled(self, command: Command) -> bool:
        """Tell whether the driver has given a command."""
        return os.path.exists(self._path("commands", format_command(command)))  # noqa: PTH110 - called for each event

    def open_attempt(self, operator: str) -> str:
        """Begin a new attempt of an operator, after a wait if restores are delayed, and return its id."""
        attempt = uuid4().hex[:12]
        if self.is_signalled(DelayRestore()):
            self.report(AttemptOpening(operator, attempt))
            self._wait_until(DelayRestore(), signalled=False)
        self.report(AttemptOpened(operator, attempt))
        return attempt

    def wait_at_gate(self, reached: GateReached) -> None:
        """Report that an operator is at a gate, and wait until the driver releases it."""
        self.report(reached)
        self._wait_until(ReleaseGate(reached.attempt, reached.gate, reached.number), signalled=True)

    def _wait_until(self, command: Command, *, signalled: bool) -> None:
        deadline = time.monotonic() + GATE_SECONDS
        while time.monotonic() < deadline and self.is_signalled(command) != signalled:
            time.sleep(POLL_SECONDS)

    # The driver's side

    def signal(self, command: Command) -> None:
        """Give a command to the operators."""
        name = format_command(command)
        Path(self._path("commands", name)).touch()
        LOGGER.info("%s: signalled %s", self, name)

    def revoke(self, command: Command) -> None:
        """Take a command back, if it was given."""
        name = format_command(command)
        with suppress(FileNotFoundError):
            Path(self._path("commands", name)).unlink()
            LOGGER.info("%s: revoked %s", self, name)

    def reports(self, offset: int) -> tuple[list[StatusReport], int]:
        """Return the complete reports behind an offset of the status file, and the offset to continue from."""
        with suppress(FileNotFoundError):
            path = self._path("status")
            if os.stat(path).st_size == offset:  # noqa: PTH116 - called every few milliseconds
                return [], offset
            with Path(path).open("rb") as file:
                file.seek(offset)
                complete, end, _ = file.read().rpartition(b"\n")
            lines = complete.decode("ascii").splitlines()
            return [parse_report(line) for line in lines], offset + len(complete) + len(end)
        return [], offset
