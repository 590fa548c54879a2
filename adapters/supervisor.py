"""
Supervisor: the process between the suite and an engine, which cleans up even if the suite is killed.

It starts the engine's command, keeps the engine's stderr in a log of bounded size, and watches three things: the
engine, how much it writes, and a socket whose other end only the suite holds. When the engine ends, has written too
much, or the socket closes (because the suite is done, or was killed), the supervisor kills everything the engine ever
started, removes its temporary folder, and exits. If the engine failed and the suite keeps artifacts, the temporary
folder is moved into the suite's folder of artifacts instead.

It is run as a script, and imports nothing of this project.
"""

import ctypes
import json
import os
import platform
import resource
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from time import monotonic

import psutil

TICK = 0.25
"""Seconds between two checks of the engine and of how much it has written."""

SHARE = 20
"""Measuring the temporary folder takes at most one part in so many of a processor."""

LONGEST_LOG = 8 * 2**20
"""Bytes of a log; then a new one is begun, and the one before it is kept."""

OWNER = "CONFORMANCE_OWNER"
"""The environment variable that names the owner of a process."""

OWNER_FILE = ".owner"
"""The file that names the owner of a temporary folder."""

ARTIFACTS = "CONFORMANCE_ARTIFACTS"
"""The environment variable that names the suite's folder of artifacts, if the suite keeps them."""

FAILED = b"!"
"""Sent over the socket before it is closed, if the suite ends an engine because it failed."""

SIGTERM_SECONDS = 20.0
"""Seconds for an engine to end after SIGTERM, before it is killed."""

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


class RotatingLog:
    """A log of bounded size: a file, and the one before it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("ab")

    def write(self, text: bytes) -> None:
        """Append text; begin a new file if this one is full."""
        if self._file.tell() + len(text) > LONGEST_LOG:
            self._file.close()
            self._path.replace(self._path.with_name(f"{self._path.name}.1"))
            self._file = self._path.open("ab")
        self._file.write(text)
        self._file.flush()


def identity(process: int | None = None) -> str:
    """
    Identify a process uniquely for all time.

    The identity consists of the machine (with the namespace of process numbers), the process's number, and when it was
    started. It is empty if there is no such process, or if it is a zombie.
    """
    number = process or os.getpid()
    machine = next((text for text in map(_text, ("/etc/machine-id", "/etc/hostname")) if text), platform.node())
    with suppress(OSError):
        machine += Path("/proc/self/ns/pid").readlink().name.removeprefix("pid:")
    try:
        one = psutil.Process(number)
        if one.status() == psutil.STATUS_ZOMBIE:
            return ""
        stat = _text(f"/proc/{number}/stat")
        # The start time of psutil follows the clock, which may be set; that of Linux does not.
        begun = stat.rpartition(")")[2].split()[19] if stat else f"{one.create_time():.0f}"
    except psutil.Error:
        return ""
    return f"{machine}/{number}/{begun}-{_text('/proc/sys/kernel/random/boot_id')[:8]}"


def _text(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def adopt_orphans() -> None:
    """Become the parent of every descendant that loses its own (on Linux; elsewhere nothing changes)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent() -> None:
    """Have the engine killed when the supervisor is (on Linux; elsewhere nothing changes)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def end_all() -> None:
    """Kill all descendants, including those started meanwhile."""
    for _ in range(100):
        alive = psutil.Process().children(recursive=True)
        if not alive:
            return
        for process in alive:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(alive, timeout=0.1)


def size(folder: Path) -> int:
    """Measure a folder in bytes; files that disappear meanwhile count for nothing."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(Path(place) / name).st_size
    return total


def supervise(lifeline: socket.socket, log: RotatingLog, quota: int, command: list[str]) -> dict[str, object]:
    """Run a command until it ends or has to be ended; say how it ended."""
    scratch = Path(tempfile.mkdtemp(prefix="conformance-"))
    (scratch / OWNER_FILE).write_text(identity(), encoding="utf-8")
    ended: dict[str, object] = {}
    try:
        ended = _watch(lifeline, log, quota, command, scratch)
    finally:
        end_all()
        if has_failed(ended) and (suite := os.environ.get(ARTIFACTS)):
            with suppress(OSError):
                scratch.rename(artifacts_of(Path(suite), os.getpid()))
        shutil.rmtree(scratch, ignore_errors=True)
    return ended


def has_failed(ended: dict[str, object]) -> bool:
    """Whether an engine that ended this way has failed."""
    return bool(ended.get("failed") or ended.get("exit") or "quota" in ended)


def artifacts_of(suite: Path, supervisor: int) -> Path:
    """Name the place of a failed engine's temporary folder, by the process number of its supervisor."""
    return suite / f"engine-{supervisor}"


def _watch(
    lifeline: socket.socket, log: RotatingLog, quota: int, command: list[str], scratch: Path
) -> dict[str, object]:
    initial_size = size(scratch)
    try:
        engine = subprocess.Popen(  # noqa: S603 - the user names the command
            command,
            stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(scratch), OWNER: identity()},
            start_new_session=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - there is one thread here
        )
    except OSError as error:
        return {"cannot": error.strerror or str(error)}
    # Close our copies of stdin and stdout: then the pipes close when the engine exits.
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    assert engine.stderr is not None  # noqa: S101 - it was asked for
    stderr = engine.stderr.fileno()
    with selectors.DefaultSelector() as selector:
        selector.register(lifeline, selectors.EVENT_READ)
        selector.register(stderr, selectors.EVENT_READ)
        next_measurement = monotonic()
        while engine.poll() is None:
            ready = [key.fd for key, _ in selector.select(TICK)]
            if lifeline.fileno() in ready:
                failed = lifeline.recv(1) == FAILED
                # Only the engine can end what it has started elsewhere (containers).
                engine.terminate()
                with suppress(subprocess.TimeoutExpired):
                    engine.wait(SIGTERM_SECONDS)
                return {"asked": True, "failed": failed}
            if stderr in ready:
                printed = os.read(stderr, 1 << 16)
                log.write(printed)
                if not printed:
                    selector.unregister(stderr)
            if (began := monotonic()) >= next_measurement:
                if size(scratch) - initial_size > quota:
                    return {"quota": quota}
                next_measurement = max(began + TICK, began + SHARE * (monotonic() - began))
    end_all()  # Its orphans hold stderr open.
    while printed := os.read(stderr, 1 << 16):
        log.write(printed)
    return {"exit": engine.returncode}


def main() -> None:
    """`supervisor.py SOCKET LOG QUOTA COMMAND…`: QUOTA in bytes, for one file and for the temporary folder."""
    number, log, quota, *command = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    adopt_orphans()
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(quota) if hard < 0 else min(int(quota), hard), hard))
    lifeline = socket.socket(fileno=int(number))
    ended = supervise(lifeline, RotatingLog(Path(log)), int(quota), command)
    with suppress(OSError):
        lifeline.sendall(json.dumps(ended).encode())


if __name__ == "__main__":
    main()
