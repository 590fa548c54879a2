"""One case through all its attempts."""

import logging
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import monotonic

from conformance.adapters.action_log import case_digests
from conformance.adapters.artifacts import discard
from conformance.adapters.embedded.attempt import Attempt, Library
from conformance.adapters.embedded.process_fault import plan_fault
from conformance.adapters.faults import EVIDENCE, EvidenceLog, next_failure
from conformance.case import Epochs, Failure, Restart
from conformance.codec import digest
from conformance.engine import RunRequest
from conformance.observation import End, EngineInfo, Fired, Observation, Observations
from conformance.programs import Event

LOGGER = logging.getLogger("conformance.adapters.embedded")


class EmbeddedRun:
    """
    A run request in a folder of its own.

    The run observes the committed output while a process works, and starts another process when one has failed. It
    does nothing else: recovery is left to the engine.
    """

    def __init__(
        self,
        request: RunRequest,
        folder: Path,
        library: Library,
        spawn: Callable[[Library, Attempt], BaseProcess],
        timeout: float,
    ) -> None:
        self.request = request
        self._folder = folder
        self._library = library
        self._spawn = spawn
        self._began = monotonic()
        self._deadline = self._began + timeout
        self._attempts = 0
        self._evidence = EvidenceLog(str(folder / EVIDENCE))
        self._observations: list[Observation] = []
        self._fired: list[Fired] = []
        self._observed_epochs = -1
        self.end: End | None = None
        self._message: str | None = None
        LOGGER.info("run %s: case %s", folder.name, case_digests([request]))
        self._evidence.prepare()
        library.prepare(folder)
        self._start_attempt()

    @property
    def process(self) -> BaseProcess:
        """The process of the current attempt, or of the last one."""
        return self._process

    @property
    def _next_failure(self) -> Failure | None:
        return next_failure(self.request.case.failures, len(self._fired))

    def _start_attempt(self) -> None:
        case, failure = self.request.case, self._next_failure
        self._observe(always=self._attempts > 0)
        until, fault = case.epochs, None
        if isinstance(failure, Restart):
            until = max(failure.epoch, self._observed_epochs)
        elif failure is not None:
            fault = plan_fault(case, len(self._fired), self.request.seed, self._evidence)
        attempt = Attempt(self._attempts, self._folder, case, self.request.streams, until, self.request.seed, fault)
        self._attempts += 1
        self._process = self._spawn(self._library, attempt)
        process = self._process.pid
        LOGGER.info("run %s: attempt %d is process %s; next: %s", self._folder.name, self._attempts, process, failure)

    def step(self) -> None:
        """Observe the output; start another attempt or end the run if the process has ended."""
        code = self._process.exitcode
        if code is None:
            if monotonic() > self._deadline:
                self._kill_process()
                self._finish("stalled")
            else:
                self._observe()
        elif self._evidence.has(len(self._fired)):
            self._record_failure(self._evidence.read(len(self._fired)).description)
            self._start_attempt()
        elif code != 0:
            self._message = f"attempt {self._attempts} ended with exit code {code}, and no failure was to happen"
            self._finish("error")
        elif isinstance(self._next_failure, Restart) and self._committed_epochs() >= self._next_failure.epoch:
            self._record_failure(
                f"attempt {self._attempts} ended in good order with its input at the end of epoch"
                f" {self._observed_epochs}"
            )
            self._start_attempt()
        else:
            self._finish("completed")

    def _record_failure(self, evidence: str) -> None:
        self._observe()
        LOGGER.info("run %s: failure %d: %s", self._folder.name, len(self._fired), evidence)
        self._fired.append(Fired(len(self._fired), len(self._observations), evidence, self._now))

    def _finish(self, end: End) -> None:
        self._observe(always=True)
        LOGGER.info("run %s: %s, %d epochs committed", self._folder.name, end, self._observed_epochs)
        self.end = end

    @property
    def _now(self) -> float:
        return round(monotonic() - self._began, 3)

    def _committed_epochs(self) -> int:
        return self._library.committed_epochs(self._folder, self.request.case)

    def _observe(self, *, always: bool = False) -> None:
        """Add an observation if the number of committed epochs has changed, or always."""
        committed = self._committed_epochs()
        if committed == self._observed_epochs and not always:
            return
        self._observed_epochs = committed
        streams = {stream: self._stream(stream, committed) for stream in sorted(self.request.streams)}
        self._observations.append(Observation(streams, self._now))

    def _stream(self, stream: str, committed: int) -> Epochs:
        """Return the rows of committed epochs as they were written: a duplicate stays a duplicate."""
        epochs: list[list[Event]] = [[] for _ in range(committed)]
        for epoch, event in self._library.rows(self._folder, stream):
            if epoch <= committed and event is not None:
                epochs[epoch - 1].append(event)
        return tuple(map(tuple, epochs))

    def observations(self, info: EngineInfo) -> Observations:
        """Return everything that was observed, after the end of the run."""
        assert self.end is not None  # noqa: S101 - the run has ended
        return Observations(
            digest(self.request.case),
            tuple(self._observations),
            info,
            fired=tuple(self._fired),
            end=self.end,
            message=self._message,
        )

    def clear(self) -> None:
        """Kill the process if it still runs, and hand the folder over or delete it."""
        if self._process.exitcode is None:
            self._kill_process()
        discard(self._folder, [self.request])

    def _kill_process(self) -> None:
        self._process.kill()
        self._process.join()
