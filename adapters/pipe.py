"""
A process that speaks JSON lines: supervised, limited, and ended with everything it started.

Every wait has a deadline: the process may not read, not answer, answer without end, or have exited.
"""

import json
import os
import selectors
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any

from conformance import interruption
from conformance.adapters import orphans, supervisor
from conformance.adapters.transcript import Listener, TranscriptRecorder
from conformance.codec import parse
from conformance.codec.strict import LARGEST_FILE, checked_json
from conformance.errors import EngineFailed, EngineUnavailable, Malformed, printable, quote

QUOTA = 4 * 2**30
"""Bytes that an engine may write to a file, or into its temporary folder."""

STDERR_LINES = 6
"""Lines of stderr that an error shows."""

EXIT_SECONDS = 5.0
"""Seconds for a process to exit after it was asked to, or after it has closed its output."""

CHUNK = 1 << 16


class Pipe:
    """One process, from its start to its end."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: Path | None = None,
        quota: int = QUOTA,
        listener: Listener | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        orphans.remove()
        self._transcript = TranscriptRecorder(listener)
        self._transcript.remark(f"started: {shlex.join(command)}")
        ours, theirs = socket.socketpair()
        self._lifeline = ours
        self._own_log = log is None
        self.log = log or _new_log()
        environment = environment or {}
        self._artifacts = environment.get(supervisor.ARTIFACTS)
        arguments = [str(theirs.fileno()), str(self.log), str(quota), *command]
        self._process = subprocess.Popen(  # noqa: S603 - our own script
            [sys.executable, "-P", supervisor.__file__, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            env={**os.environ, **environment},
            start_new_session=True,
        )
        theirs.close()
        assert self._process.stdin is not None  # noqa: S101 - both are pipes
        assert self._process.stdout is not None  # noqa: S101
        self._in, self._out = self._process.stdin, self._process.stdout
        for end in (self._in, self._out):
            os.set_blocking(end.fileno(), False)
        self._unsent = bytearray()
        self._unread = bytearray()
        self._searched = 0
        self.received = 0
        self.over = False
        self.exit_code: int | None = None

    def send(self, message: dict[str, Any]) -> None:
        """Queue a message. It is written while we wait for an answer: a process that does not read cannot block us."""
        line = json.dumps(message).encode("ascii")
        self._transcript.sent(line)
        self._unsent += line + b"\n"

    def receive(self, until: float) -> Any:
        """Receive the next line as JSON; `until` is on the monotonic clock."""
        line = self._line(until)
        self._transcript.received(line)
        try:
            return checked_json(parse(line.decode("utf-8")))
        except UnicodeDecodeError as error:
            raise self.failed(f"it printed what is not UTF-8: {quote(line[error.start : error.start + 20])}") from None
        except Malformed as refused:
            # The refusal knows a place within the line; the line itself says more.
            raise self.failed(
                f"it printed what is no answer: {quote(line.decode('utf-8'))} ({refused.found})"
            ) from None

    def _line(self, until: float) -> bytes:
        while (end := self._unread.find(b"\n", self._searched)) < 0:
            self._searched = len(self._unread)
            if self._searched > LARGEST_FILE:
                raise self.failed(f"it printed a line of more than {LARGEST_FILE >> 20} MiB")
            self._wait(until)
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        self._searched = 0
        return line

    def _wait(self, until: float) -> None:
        """Wait until the process can be read or written, and read or write once."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._out, selectors.EVENT_READ)
            if self._unsent:
                selector.register(self._in, selectors.EVENT_WRITE)
            ready = {key.fileobj for key, _ in _select(selector, until)}
        if self._in in ready:
            try:
                del self._unsent[: os.write(self._in.fileno(), self._unsent[:CHUNK])]
            except OSError:
                # It reads no more. Its output still has its last answers, or tells how it ended.
                self._unsent.clear()
        if self._out in ready:
            printed = os.read(self._out.fileno(), CHUNK)
            if not printed:
                raise self.failed(self._how_it_ended())
            self._unread += printed
            self.received += len(printed)
        elif not ready:
            raise self.failed(f"it let its deadline pass{self._unfinished_line}")

    @property
    def _unfinished_line(self) -> str:
        """An unfinished line of the process, in words; empty if there is none."""
        unread = bytes(self._unread[:100]).decode("utf-8", "backslashreplace")
        return f", with a line that it has not ended: {quote(unread)}" if unread else ""

    def _supervisor_report(self) -> dict[str, Any]:
        """After the output has closed, ask the supervisor how the process ended. Raises `TimeoutError`."""
        self._lifeline.settimeout(EXIT_SECONDS)
        message = self._lifeline.recv(CHUNK)
        report: dict[str, Any] = json.loads(message) if message else {}
        return report

    def _how_it_ended(self) -> str:
        try:
            report = self._supervisor_report()
        except TimeoutError:
            return "it closed its output"
        match report:
            case {"cannot": reason}:
                raise EngineUnavailable(f"its command cannot be run: {reason}. Is it on the PATH, and executable?")
            case {"quota": quota}:
                return f"it wrote more than {quota:,} bytes into its temporary folder"
            case {"exit": int(code)} if code < 0:
                known = {each.value: each.name for each in signal.Signals}
                return f"it was ended by {known.get(-code, f'signal {-code}')}"
            case {"exit": code}:
                return f"it ended early, with exit code {code}{self._unfinished_line}"
        return "it ended early"

    def failed(self, how: str) -> EngineFailed:
        """End the process; give an error with the end of its stderr."""
        self._transcript.remark(how)
        with suppress(OSError):
            self._lifeline.sendall(supervisor.FAILED)
        self.end()
        return EngineFailed(how + self._stderr_tail, artifacts=self._failed_artifacts)

    @property
    def _failed_artifacts(self) -> Path | None:
        """The temporary folder of an engine that failed, if the suite keeps artifacts."""
        if self._artifacts is None:
            return None
        folder = supervisor.artifacts_of(Path(self._artifacts), self._process.pid)
        return folder if folder.is_dir() else None

    def kill(self) -> None:
        """End the process at once, from any thread; a thread that waits for a line gets an error."""
        with suppress(OSError):
            self._lifeline.shutdown(socket.SHUT_WR)

    def end(self, *, in_order: bool = False) -> None:
        """End the process and all it started; `in_order` gives it a moment to exit by itself. Never raises."""
        if self.over:
            return
        self.over = True
        if in_order:
            self._close_in_order()
            self._transcript.remark("it had to be ended" if self.exit_code is None else f"exit code {self.exit_code}")
        self._lifeline.close()
        with suppress(subprocess.TimeoutExpired):
            # A supervisor that takes longer has much to clean up; it continues without us, and exits when it is done.
            self._process.wait(EXIT_SECONDS)
        for end in (self._in, self._out):
            with suppress(OSError):
                end.close()
        self._stderr_tail = _stderr_tail(self.log)
        if self._own_log:
            self.log.unlink(missing_ok=True)
            self.log.with_name(f"{self.log.name}.1").unlink(missing_ok=True)

    def _close_in_order(self) -> None:
        """Let the process exit by itself. Its exit code is known only if it does so in time."""
        until = monotonic() + EXIT_SECONDS
        with suppress(EngineFailed, EngineUnavailable, OSError, subprocess.TimeoutExpired):
            while self._unsent:
                self._wait(until)
            self._in.close()
            self._process.wait(max(0.0, until - monotonic()))
            self.exit_code = self._supervisor_report().get("exit")
        # (A process that prints more, or does not exit, is killed when the lifeline closes.)

    _stderr_tail: str = ""


def _select(selector: selectors.BaseSelector, until: float) -> list[tuple[selectors.SelectorKey, int]]:
    """Wait until a file is ready, or the time is over."""
    while True:
        interruption.check()
        seconds = max(0.0, until - monotonic())
        if not interruption.is_deferred() or seconds < interruption.POLL_SECONDS:
            return selector.select(seconds)
        if ready := selector.select(interruption.POLL_SECONDS):
            return ready


def _new_log() -> Path:
    number, name = tempfile.mkstemp(prefix="conformance-", suffix=".log")
    os.close(number)
    return Path(name)


def _stderr_tail(log: Path) -> str:
    """Give the end of a log, with unprintable characters escaped."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 4096))
            lines = file.read().decode("utf-8", "replace").splitlines()[-STDERR_LINES:]
    except OSError:
        return ""
    shown = [printable(line[:300]) for line in lines]
    return "; on stderr: " + " | ".join(shown) if any(shown) else ""
