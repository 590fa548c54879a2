"""
A campaign: cases on an engine, violations looked at again, counterexamples. It yields what happens, event by event.

It goes on from where its events so far left off, so that there is one way to run a campaign, interrupted or not.
"""

from collections import deque
from collections.abc import Iterator
from itertools import groupby, islice, takewhile
from time import monotonic

from attrs import evolve, frozen

from conformance.adapters.stdio import Stdio
from conformance.campaign.artifacts import Artifacts, is_failure
from conformance.campaign.batch_runner import BatchRunner, PendingVerdict
from conformance.campaign.counterexample import best_start, counterexample
from conformance.campaign.events import (
    GUARANTEES,
    Began,
    Ended,
    Event,
    Examined,
    GaveUp,
    Judged,
    Shrunk,
)
from conformance.campaign.examine import Bench, examine
from conformance.campaign.executor import Executor
from conformance.campaign.plan import Plan, Planned, plan_of
from conformance.campaign.results import Results
from conformance.campaign.sensitivity import Sensitivity
from conformance.campaign.shrink import EngineGone, Question
from conformance.campaign.tally import Tally
from conformance.codec import digest
from conformance.errors import EngineFailed, EngineUnavailable, Unreadable

AHEAD = 2
"""Batches that wait for the engine while it runs one, so that it never waits for us."""

HOPELESS = 10
"""So many errors in a row, and the engine is given up."""

STALLS_TRIED = 3
"""Stalls that are given all patience. Each may take ten times the deadline, and one that repeats is enough."""


@frozen
class Campaign:
    """What is run, on what, and where it is kept. The engine is started."""

    began: Began
    engine: Stdio
    executor: Executor
    results: Results
    artifacts: Artifacts

    @property
    def plan(self) -> Plan:
        """The cases."""
        return plan_of(self.began, self.executor.numbered)

    @property
    def bench(self) -> Bench:
        """The engine, for single runs."""
        return Bench(self.engine, self.began.description, self.began.deadline, self.artifacts)

    def go_on(self, tally: Tally) -> Iterator[Event]:
        """What happens from here on. The tally follows, as whoever takes an event adds it."""
        plan = self.plan
        sensitivity = Sensitivity(plan_of(self.began), self.began.description.capabilities, self.executor)
        for event in self._run_cases(plan, tally) if tally.gave_up is None else ():
            yield event
            sensitivity.advance()
        if tally.gave_up is None:
            try:
                yield from self._examine(plan, tally)
                yield from self._shrink(plan, tally)
            except EngineUnavailable as gone:
                yield GaveUp(str(gone))
            except EngineGone as gone:
                yield GaveUp(str(gone.__cause__))
        if tally.measured is None:
            yield sensitivity.measured()
        yield Ended()

    def _run_cases(self, plan: Plan, tally: Tally) -> Iterator[Event]:
        at_once = self.began.description.batch
        batches = _batches(plan, at_once if at_once > 1 else self.executor.batch_size, tally)
        given: deque[list[Planned]] = deque()
        errors = _errors_at_the_end(tally)
        with self.executor.batch_runner(self.engine, self.began, self.results) as runner:
            while True:
                for batch in islice(batches, AHEAD + 1 - len(given)):
                    runner.submit([planned for planned in batch if not self._beyond(planned)])
                    given.append(batch)
                if not given:
                    return
                for planned in given.popleft():
                    try:
                        judged = self._judged(planned, runner)
                    except EngineUnavailable as gone:
                        yield GaveUp(str(gone))
                        return
                    yield judged
                    errors = errors + 1 if judged.outcome == "error" else 0
                    if errors == HOPELESS:
                        yield GaveUp(f"{HOPELESS} errors in a row, the last: {judged.because}")
                        return

    def _beyond(self, planned: Planned) -> tuple[str, ...]:
        return self.began.description.capabilities.unsupported(planned.case)

    def _judged(self, planned: Planned, runner: BatchRunner) -> Judged:
        """What came of a case, once it and what was seen of it are on the disk."""
        judged = Judged(planned.index, planned.id, digest(planned.case), "error", sinks_only=planned.sinks_only)
        if beyond := self._beyond(planned):
            self.results.keep(planned.id, planned.case, None)
            return evolve(judged, outcome="unsupported", because=", ".join(beyond))
        answer = runner.next_result()
        if isinstance(answer, EngineFailed):
            self.results.keep(planned.id, planned.case, None)
            self.artifacts.settle_error(answer, judged.digest, planned.id)
            return evolve(judged, because=str(answer))
        return self._with_verdict(planned, judged, answer)

    def _with_verdict(self, planned: Planned, judged: Judged, run: PendingVerdict) -> Judged:
        outcome, verdict = run.verdict.result()
        self.results.keep(planned.id, planned.case, run.seen)
        self.artifacts.settle(judged.digest, planned.id, failed=is_failure(outcome, run.seen))
        return evolve(
            judged,
            outcome=outcome,
            because=verdict.because,
            epochs=verdict.epochs,
            fired=len({fired.failure for fired in run.seen.fired}),
            guarantee=verdict.guarantee,
            findings=verdict.findings,
            overlapped=run.seen.overlapped,
            in_flight=run.seen.in_flight,
        )

    def _examine(self, plan: Plan, tally: Tally) -> Iterator[Examined]:
        waiting = {j.index for j in tally.judged.values() if j.outcome == "violates"} - tally.examined.keys()
        if not waiting:
            return
        batch = self.began.description.batch
        planned = list(plan)
        # Generated cases first: what can be shrunk is worth the most patience.
        for index in sorted(waiting, key=lambda index: (planned[index].number is None, index)):
            judged, one = tally.judged[index], planned[index]
            seen = self.results.observations(one.id)
            if seen is None:
                hint = "Begin anew: the folder has been changed."
                raise Unreadable(str(self.results.folder), f"what was observed of {one.id} is not there", hint)
            first = index - index % batch
            tried = [each.stall for each in tally.examined.values() if each.stall is not None]
            yield examine(
                self.bench,
                one,
                judged,
                seen,
                planned[first : first + batch],
                try_stall=len(tried) < STALLS_TRIED and not any(tried),
            )

    def _shrink(self, plan: Plan, tally: Tally) -> Iterator[Shrunk]:
        until = monotonic() + self.began.shrink_seconds
        found = {
            guarantee: [(judged, tally.examined.get(judged.index)) for judged in tally.violations(guarantee)]
            for guarantee in GUARANTEES
            if guarantee not in tally.shrunk
        }
        broken = [(guarantee, violations) for guarantee, violations in found.items() if violations]
        wanted = {judged.index for _, violations in broken for judged, _ in violations}
        cases = {planned.index: planned.case for planned in plan if planned.index in wanted} if wanted else {}
        for left, (guarantee, violations) in zip(range(len(broken), 0, -1), broken, strict=True):
            # Of the time that is left, each has its share.
            share = monotonic() + max(0.0, until - monotonic()) / left
            question = Question(self.bench, guarantee, most_runs=self.began.shrink_runs, until=share)
            small = counterexample(plan, self.began.description.batch, question, *best_start(violations, cases))
            number = len(tally.shrunk) + 1
            self.results.counterexample(number, evolve(small.case, name=f"breaks {guarantee}"), small.seen)
            self.artifacts.keep_held(digest(small.case), f"counterexample-{number}")
            yield small.event(number, guarantee)


def _batches(plan: Plan, length: int, tally: Tally) -> Iterator[list[Planned]]:
    """
    The cases that have not run yet, in batches. Which belong together is decided by their place in the plan alone, so
    that a campaign that was interrupted has the same batches; only those done already are missing from them.
    """
    for _, batch in groupby(plan, key=lambda planned: planned.index // length):
        if left := [planned for planned in batch if planned.index not in tally.judged]:
            yield left


def _errors_at_the_end(tally: Tally) -> int:
    """How many of the last cases were errors, in a row."""
    latest = reversed(tally.judged.values())
    return sum(1 for _ in takewhile(lambda judged: judged.outcome == "error", latest))
