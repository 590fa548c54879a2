"""One case through all its attempts: looked at while it runs, started again when it has died, never helped."""

import shutil
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import monotonic

from conformance.adapters.embedded.attempt import Attempt, Library
from conformance.adapters.embedded.strike import strike
from conformance.case import Epochs, Failure, Restart
from conformance.codec import digest
from conformance.engine import RunRequest
from conformance.observation import End, EngineInfo, Fired, Observation, Observations
from conformance.programs import Event

STRUCK = "struck"
"""In a run's folder: a file for each failure that has happened, with the evidence."""


class Run:
    """A case in a folder of its own."""

    def __init__(
        self,
        request: RunRequest,
        folder: Path,
        library: Library,
        spawn: Callable[[Library, Attempt], BaseProcess],
        patience: float,
    ) -> None:
        self.request = request
        self._folder = folder
        self._library = library
        self._spawn = spawn
        self._began = monotonic()
        self._until = self._began + patience
        self._attempts = 0
        self._observations: list[Observation] = []
        self._fired: list[Fired] = []
        self._shown = -1
        self.end: End | None = None
        self._message: str | None = None
        (folder / STRUCK).mkdir(parents=True)
        library.prepare(folder)
        self._start()

    @property
    def process(self) -> BaseProcess:
        """The attempt that is running, or was the last."""
        return self._process

    @property
    def _next(self) -> Failure | None:
        failures = self.request.case.failures
        return failures[len(self._fired)] if len(self._fired) < len(failures) else None

    def _start(self) -> None:
        case, failure = self.request.case, self._next
        self._look(last=self._attempts > 0)
        until, dies_of = case.epochs, None
        if isinstance(failure, Restart):
            until = max(failure.epoch, self._shown)
        elif failure is not None:
            number = len(self._fired)
            dies_of = strike(case, number, self.request.seed, self._folder / STRUCK / str(number))
        attempt = Attempt(self._attempts, self._folder, case, self.request.streams, until, self.request.seed, dies_of)
        self._attempts += 1
        self._process = self._spawn(self._library, attempt)

    def step(self) -> None:
        """Look, and do what is due."""
        if self._process.exitcode is None:
            if monotonic() > self._until:
                self._process.kill()
                self._process.join()
                self._finish("stalled")
            else:
                self._look()
            return
        code = self._process.exitcode
        struck = self._struck()
        if struck:
            self._start()
        elif code != 0:
            self._message = f"attempt {self._attempts} ended with exit code {code}, and no failure was to happen"
            self._finish("error")
        elif isinstance(self._next, Restart) and self._committed() >= self._next.epoch:
            evidence = f"attempt {self._attempts} ended in good order with its input at the end of epoch {self._shown}"
            self._happened(evidence)
            self._start()
        else:
            self._finish("completed")

    def _struck(self) -> bool:
        """Whether the attempt died of what it was to die of."""
        place = self._folder / STRUCK / str(len(self._fired))
        if not place.exists():
            return False
        self._happened(place.read_text(encoding="utf-8"))
        return True

    def _happened(self, evidence: str) -> None:
        self._look()
        self._fired.append(Fired(len(self._fired), len(self._observations), evidence, self._now))

    def _finish(self, end: End) -> None:
        self._look(last=True)
        self.end = end

    @property
    def _now(self) -> float:
        return round(monotonic() - self._began, 3)

    def _committed(self) -> int:
        return self._library.committed(self._folder, self.request.case)

    def _look(self, *, last: bool = False) -> None:
        """See what is committed; note it if that is something else, or if one has to look."""
        committed = self._committed()
        if committed == self._shown and not last:
            return
        self._shown = committed
        streams = {stream: self._stream(stream, committed) for stream in sorted(self.request.streams)}
        self._observations.append(Observation(streams, self._now))

    def _stream(self, stream: str, committed: int) -> Epochs:
        """The rows of committed epochs as they stand there: one that is there twice is there twice."""
        epochs: list[list[Event]] = [[] for _ in range(committed)]
        for epoch, event in self._library.rows(self._folder, stream):
            if epoch <= committed and event is not None:
                epochs[epoch - 1].append(event)
        return tuple(map(tuple, epochs))

    def observations(self, info: EngineInfo) -> Observations:
        """What was seen."""
        assert self.end is not None  # noqa: S101 - only then it is asked for
        return Observations(
            digest(self.request.case),
            tuple(self._observations),
            info,
            fired=tuple(self._fired),
            end=self.end,
            message=self._message,
        )

    def clear(self) -> None:
        """End what runs, and leave nothing."""
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        shutil.rmtree(self._folder, ignore_errors=True)
