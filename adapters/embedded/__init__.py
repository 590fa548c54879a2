"""
Engines that are Python libraries: a process runs a case, and another process continues it after each failure.

Each process is forked from one that has imported the engine already. Attempts share nothing else, except the folder of
their case.
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
from conformance.adapters.embedded.run import EmbeddedRun
from conformance.engine import Capabilities, Description, RunRequest
from conformance.errors import EngineUnavailable, install_hint
from conformance.observation import EngineInfo, Observations

CONCURRENT_CASES = 2
"""Cases that run at the same time."""

BATCH_SIZE = 8
"""Run requests in a batch: enough that no process waits for another."""

POLL_INTERVAL = 0.01
"""Seconds between two observations of the committed output."""


class EmbeddedEngine:
    """An engine that is the Python package `package`, run by `library`."""

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
        self._run_numbers = count()
        self._context = multiprocessing.get_context("forkserver")

    def start(self) -> Description:
        try:
            number = version(self._package)
        except PackageNotFoundError:
            name = self._package
            raise EngineUnavailable(f"{name} is not installed: {install_hint(name)} ({self._pythons})") from None
        self._context.set_forkserver_preload([self._preload])
        self._folder = Path(tempfile.mkdtemp(prefix=f"{self._package}-"))
        self._info = EngineInfo(self._package, number, self._settings)
        return Description(self._info, Capabilities(failures=self._failures, holds=False), batch=BATCH_SIZE)

    def run(self, requests: Sequence[RunRequest]) -> Iterator[Observations]:
        observed: dict[int, Observations] = {}
        finished = self._finished_runs(requests)
        try:
            for request in requests:
                while request.id not in observed:
                    run = next(finished)
                    observed[run.request.id] = run.observations(self._info)
                yield observed.pop(request.id)
        finally:
            finished.close()

    def _finished_runs(self, requests: Sequence[RunRequest]) -> Generator[EmbeddedRun, None, None]:
        """Run a few requests at the same time, and yield each run when it ends."""
        waiting, running = deque(requests), list[EmbeddedRun]()
        concurrent = min(CONCURRENT_CASES, len(requests))
        try:
            while waiting or running:
                while waiting and len(running) < CONCURRENT_CASES:
                    running.append(self._start_run(waiting.popleft(), concurrent))
                wait([run.process.sentinel for run in running], timeout=POLL_INTERVAL)
                for run in running:
                    run.step()
                for run in [run for run in running if run.end is not None]:
                    running.remove(run)
                    run.clear()
                    yield run
        finally:
            for run in running:
                run.clear()

    def _start_run(self, request: RunRequest, concurrent: int) -> EmbeddedRun:
        assert self._folder is not None  # noqa: S101 - the engine was started
        folder = self._folder / str(next(self._run_numbers))
        return EmbeddedRun(request, folder, self._library, self._spawn, concurrent * request.seconds)

    def _spawn(self, library: Library, attempt: Attempt) -> BaseProcess:
        process = self._context.Process(target=library.run_attempt, args=(attempt,))
        process.start()
        return process

    def stop(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
