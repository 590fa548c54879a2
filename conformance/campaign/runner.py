"""
A campaign: it runs cases on an engine, examines violations, shrinks counterexamples, and yields each event.

It continues from the events so far, so a campaign that was interrupted and one that was not run the same code.
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
    CampaignEnded,
    CampaignEvent,
    Examined,
    GaveUp,
    Judged,
    Shrunk,
)
from conformance.campaign.examine import Bench, examine
from conformance.campaign.executor import Executor
from conformance.campaign.plan import Plan, Planned, kills, plan_of
from conformance.campaign.results import Results, counterexample_file, kept_name
from conformance.campaign.sensitivity import MutationScore
from conformance.campaign.shrink import EngineGone, FailureOracle
from conformance.campaign.tally import Tally
from conformance.codec import digest
from conformance.errors import EngineFailed, EngineUnavailable, Unreadable
from conformance.interruption import result_of

AHEAD = 2
"""Batches that wait while one runs, so that the engine never waits for the campaign."""

MOST_ERRORS = 10
"""The number of errors in a row after which the campaign gives up."""


@frozen
class Campaign:
    """A campaign on an engine that is started, with its executor and its folder."""

    began: Began
    engine: Stdio
    executor: Executor
    results: Results
    artifacts: Artifacts

    @property
    def plan(self) -> Plan:
        """The cases of the campaign."""
        return plan_of(self.began, self.executor.numbered)

    @property
    def bench(self) -> Bench:
        """The engine, for single runs."""
        return Bench(self.engine, self.began.description, self.began.deadline, self.artifacts)

    def run(self, tally: Tally) -> Iterator[CampaignEvent]:
        """Run the campaign from its tally on. The caller adds each event to the tally before it asks for the next."""
        plan = self.plan
        score = MutationScore(plan_of(self.began), self.began.description.capabilities, self.executor)
        for event in self._run_cases(plan, tally) if tally.gave_up is None else ():
            yield event
            score.advance()
        if tally.gave_up is None:
            try:
                yield from self._examine(plan, tally)
                yield from self._shrink(plan, tally)
            except EngineUnavailable as gone:
                yield GaveUp(str(gone))
            except EngineGone as gone:
                yield GaveUp(str(gone.__cause__))
        if tally.measured is None:
            yield score.measured()
        yield CampaignEnded()

    def _run_cases(self, plan: Plan, tally: Tally) -> Iterator[CampaignEvent]:
        at_once = self.began.description.batch
        length = at_once if at_once > 1 else self.executor.batch_size
        batches = _batches(plan, length, tally, kills_last=at_once > 1)
        submitted: deque[list[Planned]] = deque()
        errors = _latest_errors(tally)
        with self.executor.batch_runner(self.engine, self.began, self.results) as runner:
            while True:
                for batch in islice(batches, AHEAD + 1 - len(submitted)):
                    runner.submit([planned for planned in batch if not self._unsupported(planned)])
                    submitted.append(batch)
                if not submitted:
                    return
                for planned in submitted.popleft():
                    try:
                        judged = self._save_result(planned, runner)
                    except EngineUnavailable as gone:
                        yield GaveUp(str(gone))
                        return
                    yield judged
                    errors = errors + 1 if judged.outcome == "error" else 0
                    if errors == MOST_ERRORS:
                        yield GaveUp(f"{MOST_ERRORS} errors in a row, the last: {judged.because}")
                        return

    def _unsupported(self, planned: Planned) -> tuple[str, ...]:
        return self.began.description.capabilities.unsupported(planned.case)

    def _save_result(self, planned: Planned, runner: BatchRunner) -> Judged:
        """Wait for the result of a case and save its files; the journal gets the event after them."""
        judged = Judged(planned.index, planned.id, digest(planned.case), "error", sinks_only=planned.sinks_only)
        if unsupported := self._unsupported(planned):
            self.results.save(planned.id, planned.case, None)
            return evolve(judged, outcome="unsupported", because=", ".join(unsupported))
        answer = runner.next_result()
        if isinstance(answer, EngineFailed):
            self.results.save(planned.id, planned.case, None)
            self.artifacts.settle_error(answer, judged.digest, planned.id)
            return evolve(judged, because=str(answer))
        return self._with_verdict(planned, judged, answer)

    def _with_verdict(self, planned: Planned, judged: Judged, run: PendingVerdict) -> Judged:
        outcome, verdict = result_of(run.verdict)
        self.results.save(planned.id, planned.case, run.seen)
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
            place=run.seen.place or "",
        )

    def _examine(self, plan: Plan, tally: Tally) -> Iterator[Examined]:
        waiting = {j.index for j in tally.judged.values() if j.outcome == "violates"} - tally.examined.keys()
        if not waiting:
            return
        batch = self.began.description.batch
        planned = list(plan)
        # Generated cases first: they shrink best, so their stalls are the ones to repeat.
        for index in sorted(waiting, key=lambda index: (planned[index].draw_number is None, index)):
            judged, one = tally.judged[index], planned[index]
            seen = self.results.observations(one.id)
            if seen is None:
                hint = "The folder was changed; start a new campaign in another folder."
                raise Unreadable(str(self.results.folder), f"the observations of {one.id} are missing", hint)
            first = index - index % batch
            stalls = [each.stall for each in tally.examined.values() if each.stall is not None]
            yield examine(self.bench, one, judged, seen, planned[first : first + batch], stalls)

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
        for remaining, (guarantee, violations) in zip(range(len(broken), 0, -1), broken, strict=True):
            # The remaining time is divided equally.
            share = monotonic() + max(0.0, until - monotonic()) / remaining
            oracle = FailureOracle(self.bench, guarantee, most_runs=self.began.shrink_runs, until=share)
            small = counterexample(plan, self.began.description.batch, oracle, *best_start(violations, cases))
            number = len(tally.shrunk) + 1
            self.results.save_counterexample(number, evolve(small.case, name=f"breaks {guarantee}"), small.seen)
            self.artifacts.keep_held(digest(small.case), kept_name(counterexample_file(number)))
            yield small.event(number, guarantee)


def _batches(plan: Plan, length: int, tally: Tally, *, kills_last: bool) -> Iterator[list[Planned]]:
    """
    Yield the cases that have not run yet, in batches.

    The batch of a case follows from its index alone, so a campaign that was interrupted has the same batches, without
    the cases that have run. An engine that runs a batch at once runs cases with kills last, because they take longest.
    So their results are awaited last (`kills_last`), and all others are seen when they are there.
    """
    for _, batch in groupby(plan, key=lambda planned: planned.index // length):
        if remaining := [planned for planned in batch if planned.index not in tally.judged]:
            yield sorted(remaining, key=lambda planned: kills_last and bool(kills(planned.case)))


def _latest_errors(tally: Tally) -> int:
    """Return how many of the last cases were errors, in a row."""
    latest = reversed(tally.judged.values())
    return sum(1 for _ in takewhile(lambda judged: judged.outcome == "error", latest))
