"""
Engines that are libraries: a case is run by a process, which dies of each failure and is started anew.

The process is forked off one that has imported the engine already; that, and its own folder, is all that attempts have
in common.
"""

import multiprocessing
import shutil
import tempfile
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from conformance.adapters.embedded.attempt import Attempt, Library
from conformance.adapters.embedded.run import Run
from conformance.engine import Capabilities, Description, RunRequest
from conformance.errors import EngineUnavailable
from conformance.observation import EngineInfo, Observations

AT_ONCE = 2
"""Cases that run at a time."""

BATCH = 8
"""Cases that are given to it at once, so that no process waits for another."""

LOOK = 0.01
"""Seconds between two looks at what is committed."""


class Embedded:
    """An engine that is a Python package of the name `package`, driven by `library`."""

    def __init__(
        self,
        package: str,
        library: Library,
        *,
        preload: str,
        pythons: str,
        failures: Sequence[str],
        settings: dict[str, object],
    ) -> None:
        self._package = package
        self._library = library
        self._preload = preload
        self._pythons = pythons
        self._failures = failures
        self._settings = settings
        self._folder: Path | None = None
        self._runs = count()
        self._context = multiprocessing.get_context("forkserver")

    def start(self) -> Description:
        try:
            number = version(self._package)
        except PackageNotFoundError:
            name = self._package
            raise EngineUnavailable(
                f"{name} is not installed: pip install 'dataflow-conformance[{name}]' ({self._pythons})"
            ) from None
        self._context.set_forkserver_preload([self._preload])
        self._folder = Path(tempfile.mkdtemp(prefix=f"{self._package}-"))
        self._info = EngineInfo(self._package, number, self._settings)
        return Description(self._info, Capabilities(failures=self._failures, holds=False), batch=BATCH)

    def run(self, requests: Sequence[RunRequest]) -> Iterator[Observations]:
        seen: dict[int, Observations] = {}
        finished = self._finished(requests)
        try:
            for request in requests:
                while id(request) not in seen:
                    run = next(finished)
                    seen[id(run.request)] = run.observations(self._info)
                yield seen.pop(id(request))
        finally:
            finished.close()

    def _finished(self, requests: Sequence[RunRequest]) -> Generator[Run, None, None]:
        """A few at a time; each is given when it is over."""
        waiting, running = deque(requests), list[Run]()
        together = min(AT_ONCE, len(requests))
        try:
            while waiting or running:
                while waiting and len(running) < AT_ONCE:
                    running.append(self._begun(waiting.popleft(), together))
                wait([run.process.sentinel for run in running], timeout=LOOK)
                for run in running:
                    run.step()
                for run in [run for run in running if run.end is not None]:
                    running.remove(run)
                    run.clear()
                    yield run
        finally:
            for run in running:
                run.clear()

    def _begun(self, request: RunRequest, together: int) -> Run:
        assert self._folder is not None  # noqa: S101 - it was started
        return Run(
            request, self._folder / str(next(self._runs)), self._library, self._spawn, together * request.seconds
        )

    def _spawn(self, library: Library, attempt: Attempt) -> BaseProcess:
        process = self._context.Process(target=library.work, args=(attempt,))
        process.start()
        return process

    def stop(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
