"""
An engine behind the protocol `conformance-engine/1`: any executable that reads and writes JSON lines.

Anything but an answer to what was asked ends the process and counts as the engine's error. There is a deadline for
every line, and a case may take as long as its own deadline allows.
"""

import shlex
import threading
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any

from attrs import define, field, frozen

from conformance.adapters.pipe import QUOTA, Pipe
from conformance.adapters.transcript import Listener
from conformance.codec import digest
from conformance.codec.observations import WHERE_KNOWN
from conformance.codec.protocol import (
    START,
    STOP,
    Answer,
    EndAnswer,
    FiredAnswer,
    ObservationAnswer,
    decode_answer,
    decode_description,
    decode_remarks,
    encode_batch,
    encode_run,
)
from conformance.codec.strict import LARGEST_FILE
from conformance.engine import Description, RunRequest, batch_seconds
from conformance.errors import EngineFailed, EngineUnavailable, Malformed, UnknownEngine
from conformance.observation import Fired, Observation, Observations

HINT = (
    ". An adapter answers the first line of its stdin with a description of its engine; `conformance smoke` checks it"
)
"""What to do with a command that does not speak the protocol."""


SHORTEST_MOMENT, LONGEST_MOMENT = 1.0, 60.0
"""Seconds that an engine has after the deadline of a case to end the case: at least, and at most."""

STARTS = 5
"""The same as a multiple of the time that the engine took to start."""


@frozen
class Patience:
    """How many seconds to wait for an engine."""

    start: float = 120.0

    def silence(self, deadline: float, together: int, started_in: float = 0.0) -> float:
        """
        Compute how long an engine that runs cases may say nothing, if it was `started_in` so many seconds.

        It is the deadline of these cases, and more: an adapter that notices a stall needs a moment to end the case and
        to report it. An engine that is slow to start is slow to end a case, whatever the deadline.
        """
        moment = min(max(SHORTEST_MOMENT, STARTS * started_in), LONGEST_MOMENT)
        return 1.25 * batch_seconds(deadline, together) + moment


@define
class _CaseAnswers:
    """The answers to one case so far."""

    request: RunRequest
    observations: list[Observation] = field(factory=list)
    fired: list[Fired] = field(factory=list)
    ended: EndAnswer | None = None


class Stdio:
    """`stdio:COMMAND`. After an error it can be started again, in a new process."""

    def __init__(
        self,
        settings: Sequence[str],
        *,
        command: Sequence[str] = (),
        ahead: bool = False,
        log: Path | None = None,
        patience: Patience | None = None,
        quota: int = QUOTA,
        listener: Listener | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        try:
            self._command = [*command, *(part for setting in settings for part in shlex.split(setting))]
        except ValueError as error:
            raise UnknownEngine(f"stdio:{settings[0]} is no command line: {error}") from None
        if not self._command:
            raise UnknownEngine("stdio wants a command line, as in stdio:./my-adapter")
        self._hint = HINT if settings else ""
        self._patience = patience or Patience()
        self._ahead = ahead
        self._log = log
        self._quota = quota
        self._listener = listener
        self._environment = environment
        self._pipe: Pipe | None = None
        self._description: Description | None = None
        self._started_in = 0.0
        self._next = 0
        self._killed = False
        self._changing = threading.Lock()

    def start(self, greeting: Mapping[str, Any] = START) -> Description:
        self.stop()
        with self._changing:
            if self._killed:
                raise EngineFailed("it was told to end")
            self._pipe = pipe = Pipe(
                self._command,
                log=self._log,
                quota=self._quota,
                listener=self._listener,
                environment=self._environment,
            )
        began = monotonic()
        pipe.send(dict(greeting))
        try:
            answer = pipe.receive(monotonic() + self._patience.start)
            self._description = decode_description(answer)
            self.remarks = decode_remarks(answer)
            self._started_in = monotonic() - began
        except Malformed as refused:
            raise pipe.failed(f"its answer to start is refused: {refused}") from None
        except EngineFailed as failed:
            raise EngineFailed(f"it did not answer start: {failed}{self._hint}", artifacts=failed.artifacts) from None
        except (EngineUnavailable, UnknownEngine):
            pipe.end()
            raise
        return self._description

    def run(self, requests: Sequence[RunRequest]) -> Iterator[Observations]:
        pipe, description = self._pipe, self._description
        if pipe is None or description is None or pipe.over:
            raise EngineFailed("it is not running: it was not started, or has ended")
        first = self._next
        runs = {first + place: _CaseAnswers(request) for place, request in enumerate(requests)}
        self._next += len(requests)
        if len(requests) > 1 and description.batch > 1:
            pipe.send(encode_batch([(id_, run.request) for id_, run in runs.items()]))
            yield from self._gather(pipe, description, runs)
            return
        # One after the other. If the engine reads ahead, the next request is sent while this one runs, so that the
        # engine never waits for us.
        waiting = iter(runs.items())
        for number, (id_, run) in enumerate(runs.items()):
            for next_id, following in islice(waiting, 2 if self._ahead and number == 0 else 1):
                pipe.send(encode_run(next_id, following.request))
            yield from self._gather(pipe, description, {id_: run})

    def _gather(self, pipe: Pipe, description: Description, runs: dict[int, _CaseAnswers]) -> Iterator[Observations]:
        """Receive the answers to cases that run at once; give observations in the order of the requests."""
        waiting = list(runs)
        deadline = max(run.request.seconds for run in runs.values())
        silence = self._patience.silence(deadline, len(runs), self._started_in)
        over = monotonic() + silence * len(runs)
        allowed = pipe.received + LARGEST_FILE * len(runs)
        while waiting:
            value = pipe.receive(min(over, monotonic() + silence))
            if pipe.received > allowed:
                raise pipe.failed(f"it printed more than {LARGEST_FILE >> 20} MiB for a case")
            ready = []
            try:
                self._record(runs, decode_answer(value))
                while waiting and runs[waiting[0]].ended is not None:
                    ready.append(_observations(runs[waiting[0]], description))
                    del waiting[0]
            except Malformed as refused:
                raise pipe.failed(f"what it answers is refused: {refused}") from None
            yield from ready

    def _record(self, runs: dict[int, _CaseAnswers], answer: Answer) -> None:
        run = runs.get(answer.id)
        if run is None or run.ended is not None:
            wanted = ", ".join(str(id_) for id_, each in runs.items() if each.ended is None)
            raise Malformed(str(answer.id), f"the id of a case that is running: {wanted}", path=("id",))
        match answer:
            case ObservationAnswer(observation=observation):
                run.observations.append(observation)
            case FiredAnswer(fired=failure, evidence=evidence, t=t):
                run.fired.append(Fired(failure, len(run.observations), evidence, t))
            case EndAnswer():
                run.ended = answer

    def stop(self) -> None:
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            pipe.send(STOP)
            pipe.end(in_order=True)
            self.exit_code = pipe.exit_code

    remarks: tuple[str, ...] = ()
    """The engine's remarks for the user at its last start."""

    exit_code: int | None = None
    """The exit code of the process that was stopped last; None if it had to be killed."""

    def kill(self) -> None:
        """End the process at once and for good, from any thread; a thread that waits for an answer gets an error."""
        with self._changing:
            self._killed = True
            if self._pipe is not None:
                self._pipe.kill()


def _observations(run: _CaseAnswers, description: Description) -> Observations:
    assert run.ended is not None  # noqa: S101 - the caller has checked it
    return Observations(
        digest(run.request.case),
        tuple(run.observations),
        description.info,
        description.epochs,
        description.atomic,
        description.snapshots,
        tuple(run.fired),
        run.ended.end,
        log=run.ended.log,
        **{name: getattr(run.ended, name) for name in WHERE_KNOWN},
    )
