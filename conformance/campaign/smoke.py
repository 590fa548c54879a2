"""
A smoke test for authors of adapters: checks from the simplest on, each with the protocol lines if it fails.

It is as strict as a campaign, and continues where a campaign gives up: after every mistake the adapter is restarted, so
that all mistakes are reported at once.
"""

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from attrs import evolve, frozen

from conformance.adapters.stdio import Patience
from conformance.adapters.subprocess_engine import SubprocessEngine
from conformance.adapters.transcript import Listener, TranscriptLine
from conformance.campaign.judging import judge_outcome
from conformance.campaign.smoke_cases import SmokeCase, smoke_cases
from conformance.codec.protocol import PROTOCOL
from conformance.engine import Description, RunRequest
from conformance.errors import ConformanceError, EngineFailed
from conformance.observation import Observations

Standing: TypeAlias = Literal["ok", "wrong", "violates"]
"""Violates: the adapter keeps the protocol, but no failure-free execution explains the observations."""

NEWER = {"do": "start", "protocol": PROTOCOL + 1, "from_the_future": True}

HINTS = {
    "deadline pass": "Does it end every line, and flush it?",
    "no answer": "Only answers belong on stdout, one JSON object a line; what is for people belongs on stderr.",
    "ended early": "After an answer it has to wait for the next line; the end of its input is the end.",
    "expected the id": "Every answer has the id of the request that it answers.",
    "at least every sink": "An observation shows every stream that was asked for in `streams`.",
    "did not fire": "It says `fired` when one has happened; what it cannot make happen does not belong in `failures`.",
    "the streams of the first": "All observations of a case show the same streams; an empty list says: nothing yet.",
}


@frozen
class Check:
    """The result of one check; if it failed, with reasons and the protocol lines."""

    name: str
    standing: Standing = "ok"
    because: tuple[str, ...] = ()
    said: tuple[TranscriptLine, ...] = ()


class Smoke:
    """A smoke test of one engine, in everything that it claims to support."""

    def __init__(self, engine_name: str, *, seconds: float, listener: Listener | None = None) -> None:
        self._engine = SubprocessEngine(
            engine_name, listener=self._hear, patience=Patience(start=max(3 * seconds, 30.0))
        )
        self._listener = listener
        self._seconds = seconds
        self._said: list[TranscriptLine] = []
        self._running = False
        self.description: Description | None = None

    def _hear(self, said: TranscriptLine) -> None:
        self._said.append(said)
        if self._listener is not None:
            self._listener(said)

    def checks(self) -> Iterator[Check]:
        """Run the checks, one after the other. If the engine does not start, there is only the first."""
        try:
            yield self._check("it starts, and says what it is", self._start)
            if self.description is None:
                return
            yield self._check("it ends when it is told to", self._stop)
            yield self._check(f"it answers a suite that offers protocol {PROTOCOL + 1}", self._start_newer)
            self._engine.stop()
            for smoke_case in smoke_cases(self.description.capabilities):
                yield self._check(smoke_case.name, lambda smoke_case=smoke_case: self._run_case(smoke_case))  # type: ignore[misc]
            if self.description.batch > 1:
                yield self._check("several cases at once", self._run_batch)
        finally:
            self._engine.kill()
            self._engine.stop()

    def _check(self, name: str, attempt: Callable[[], Check | None]) -> Check:
        self._said.clear()
        try:
            found = attempt()
        except ConformanceError as error:
            self._running = False
            found = Check(name, "wrong", _with_hint(str(error)))
        if found is None:
            return Check(name)
        return evolve(found, name=name, said=tuple(said for said in self._said if said.direction != "--"))

    def _start(self) -> None:
        self.description = self._engine.start()

    def _stop(self) -> None:
        self._engine.stop()
        if self._engine.exit_code is None:
            raise EngineFailed("it does not end, and had to be ended")
        if self._engine.exit_code != 0:
            raise EngineFailed(f"it ended with exit code {self._engine.exit_code}, where 0 means that all is well")

    def _start_newer(self) -> None:
        """Start the engine as a newer suite would. An adapter ignores fields and versions that it does not know."""
        if self._engine.start(NEWER) != self.description:
            raise EngineFailed("it says something else of itself than when it was asked in its own protocol")

    def _request(self, smoke_case: SmokeCase) -> RunRequest:
        assert self.description is not None  # noqa: S101 - it was started
        graph = smoke_case.case.graph
        streams = frozenset(graph.sinks if smoke_case.sinks_only else graph.streams)
        return self.description.with_required_streams(RunRequest(smoke_case.case, streams, seconds=self._seconds))

    def _run(self, requests: list[RunRequest]) -> list[Observations]:
        if not self._running:
            self._engine.start()
            self._running = True
            self._said.clear()
        return list(self._engine.run(requests))

    def _run_case(self, smoke_case: SmokeCase) -> Check | None:
        request = self._request(smoke_case)
        (seen,) = self._run([request])
        return judged(request, seen)

    def _run_batch(self) -> Check | None:
        assert self.description is not None  # noqa: S101 - it was started
        requests = [self._request(smoke_case) for smoke_case in smoke_cases(self.description.capabilities)][
            : self.description.batch
        ]
        found = [judged(request, seen) for request, seen in zip(requests, self._run(requests), strict=True)]
        return next((check for check in found if check is not None), None)


def judged(request: RunRequest, seen: Observations) -> Check | None:
    """Check the observations of a case; return None if nothing is wrong."""
    counted_as, verdict = judge_outcome(request.case, seen)
    if counted_as == "violates":
        return Check("", "violates", tuple(f"{each.diagnosis}: {each.because}" for each in verdict.findings))
    because = [verdict.because] if counted_as != "conforms" else []
    if seen.end != "error" and not seen.observations:
        because.append("it showed nothing; there has to be an observation at least at the end")
    if missing := request.streams - seen.observed if seen.observations else ():
        because.append(f"it was asked for more streams than it showed: {', '.join(sorted(missing))} are missing")
    if [each.failure for each in seen.fired] != sorted({each.failure for each in seen.fired}):
        because.append("a failure fires once, and in the order of the case")
    if any(each.before >= len(seen.observations) for each in seen.fired):
        because.append("there has to be an observation after every failure")
    if any(not each.evidence for each in seen.fired):
        because.append("it does not say how it knows that a failure has happened: `evidence` is empty")
    return Check("", "wrong", tuple(line for each in because for line in _with_hint(each))) if because else None


def _with_hint(because: str) -> tuple[str, ...]:
    return (because, *(hint for part, hint in HINTS.items() if part in because))
