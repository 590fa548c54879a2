"""
The process that stands between us and an engine, and outlives us by the moment it takes to clean up.

It starts the engine's command, keeps what the engine says on stderr in a log that cannot grow without end, and watches
three things: the engine, how much it writes, and a socket whose other end only we hold. When the engine ends, has
written too much, or the socket closes (because we are done, or were killed), everything the engine ever started is
ended, its temporary folder is removed, and so the supervisor ends itself.

It is run as a script, and knows nothing of this project.
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
"""Seconds between two looks at the engine and at what it has written."""

SHARE = 20
"""Looking takes one part in so many of a processor, however many files there are."""

LONGEST_LOG = 8 * 2**20
"""Bytes; then the log is begun anew, and the one before it is kept."""

OWNER = "CONFORMANCE_OWNER"
"""In the environment of all that is started: who ends it."""

MARK = ".owner"
"""In a temporary folder: who removes it."""

GRACE = 20.0
"""Seconds for an engine that minds being asked to end; most do not, and do."""

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


class Log:
    """A file that keeps the last things said: this one and the one before."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("ab")

    def write(self, said: bytes) -> None:
        """Note something."""
        if self._file.tell() + len(said) > LONGEST_LOG:
            self._file.close()
            self._path.replace(self._path.with_name(f"{self._path.name}.1"))
            self._file = self._path.open("ab")
        self._file.write(said)
        self._file.flush()


def identity(process: int | None = None) -> str:
    """
    Who a process is, and no other will ever be: the machine (and which part of it sees its number), its number, and
    when it was started. It is no identity of anybody if there is no such process, or what is left of it is a zombie.
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
        # What psutil says of it follows the clock, which may be set; what Linux says does not.
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
    """Whoever loses its parent below us becomes our child instead of init's, where Linux is at hand to do that."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent() -> None:
    """Whoever kills the supervisor kills the engine, where Linux is at hand to do that."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def end_all() -> None:
    """Kill everything below us, also what is started meanwhile."""
    for _ in range(100):
        left = psutil.Process().children(recursive=True)
        if not left:
            return
        for process in left:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(left, timeout=0.1)


def size(folder: Path) -> int:
    """How many bytes a folder takes; what disappears while we look counts for nothing."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(Path(place) / name).st_size
    return total


def supervise(lifeline: socket.socket, log: Log, quota: int, command: list[str]) -> dict[str, object]:
    """Run a command until it ends or has to be ended, and say how that came."""
    scratch = Path(tempfile.mkdtemp(prefix="conformance-"))
    (scratch / MARK).write_text(identity(), encoding="utf-8")
    try:
        return _watch(lifeline, log, quota, command, scratch)
    finally:
        end_all()
        shutil.rmtree(scratch, ignore_errors=True)


def _watch(lifeline: socket.socket, log: Log, quota: int, command: list[str], scratch: Path) -> dict[str, object]:
    ours = size(scratch)
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
    # Only the engine holds its ends of the pipes now: they close when it does.
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    assert engine.stderr is not None  # noqa: S101 - it was asked for
    words = engine.stderr.fileno()
    with selectors.DefaultSelector() as selector:
        selector.register(lifeline, selectors.EVENT_READ)
        selector.register(words, selectors.EVENT_READ)
        weigh = monotonic()
        while engine.poll() is None:
            ready = [key.fd for key, _ in selector.select(TICK)]
            if lifeline.fileno() in ready:
                # What an engine has started elsewhere (containers), it has to end itself.
                engine.terminate()
                with suppress(subprocess.TimeoutExpired):
                    engine.wait(GRACE)
                return {"asked": True}
            if words in ready:
                said = os.read(words, 1 << 16)
                log.write(said)
                if not said:
                    selector.unregister(words)
            if (began := monotonic()) >= weigh:
                if size(scratch) - ours > quota:
                    return {"quota": quota}
                weigh = max(began + TICK, began + SHARE * (monotonic() - began))
    end_all()  # What it left behind holds stderr open.
    while said := os.read(words, 1 << 16):
        log.write(said)
    return {"exit": engine.returncode}


def main() -> None:
    """`supervisor.py SOCKET LOG QUOTA COMMAND…`: QUOTA in bytes, for one file and for the temporary folder."""
    number, log, quota, *command = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    adopt_orphans()
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(quota) if hard < 0 else min(int(quota), hard), hard))
    lifeline = socket.socket(fileno=int(number))
    ended = supervise(lifeline, Log(Path(log)), int(quota), command)
    with suppress(OSError):
        lifeline.sendall(json.dumps(ended).encode())


if __name__ == "__main__":
    main()
