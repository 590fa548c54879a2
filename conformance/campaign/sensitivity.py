"""
How well the suite tells: every broken engine must be convicted, and no correct one accused.

A mutant is killed by the first generated case whose observations violate; how many cases that took is a measure of the
generators and the judge together.
"""

from collections.abc import Iterator
from concurrent.futures import Future
from functools import lru_cache, partial
from itertools import islice

from attrs import frozen

from conformance.adapters.mutants import GROUPS, MUTANTS, ODD, name
from conformance.adapters.mutants.machine import Machine
from conformance.campaign.events import Measured
from conformance.campaign.executor import Executor
from conformance.campaign.judging import judge_run
from conformance.campaign.plan import Plan, Planned
from conformance.case import Case
from conformance.engine import Capabilities, RunRequest
from conformance.generators import cases, collect
from conformance.judge import Budget, Inconclusive, Verdict, Violates, judge


@frozen
class Killed:
    """A broken engine, and what convicted it: `cases` is None if nothing did."""

    mutant: str
    group: str
    about: str
    cases: int | None
    diagnosis: str = ""
    guarantee: str = ""


@frozen
class Spared:
    """A correct engine: how often it was run, and how often it was accused or nothing could be said."""

    mutant: str
    about: str
    runs: int
    accused: int
    unknown: int


SECONDS = 1.0
"""For judging one run. What takes longer is inconclusive, and counted as such."""


def verdict_on(machine: type[Machine], case: Case, seed: int) -> Verdict:
    """One run of one case, judged. A quarter of the cases show their sinks only."""
    streams = case.graph.sinks if seed % 4 == 3 else case.graph.streams  # noqa: PLR2004
    if machine.epochs_by == "own":
        streams = case.graph.streams
    request = RunRequest(case, frozenset(streams), seed=seed)
    return judge(case, machine(request).run(), Budget(steps=10**12, seconds=SECONDS))


@frozen
class MutantTrial:
    """One engine on the first so many cases of a seed; on all of them, if it is in no group of broken ones."""

    mutant: str
    group: str | None
    number: int
    seed: int

    def __call__(self) -> Killed | Spared:
        drawn = _drawn(self.number, self.seed)
        if self.group is None:
            return _spare(ODD[self.mutant], drawn)
        return _kill(MUTANTS[self.mutant], self.group, drawn)


@lru_cache(maxsize=2)
def _drawn(number: int, seed: int) -> list[Case]:
    return collect(cases(), number=number, seed=seed) if number else []


def mutant_trials(*, number: int, runs: int, seed: int) -> list[MutantTrial]:
    """Every mutant on at most so many cases, then every correct engine, so many runs in all."""
    broken = [
        MutantTrial(name(machine), group, number, seed) for group, machines in GROUPS.items() for machine in machines
    ]
    return broken + [MutantTrial(odd, None, -(-runs // len(ODD)), seed + 1) for odd in ODD]


def sensitivity(*, number: int, runs: int, seed: int) -> Iterator[Killed | Spared]:
    """What comes of all of them, one after the other."""
    return (trial() for trial in mutant_trials(number=number, runs=runs, seed=seed))


def _kill(machine: type[Machine], group: str, tried: list[Case]) -> Killed:
    about = (machine.__doc__ or "").strip()
    for index, case in enumerate(tried):
        verdict = verdict_on(machine, case, index)
        if isinstance(verdict, Violates):
            first = verdict.findings[0].diagnosis
            return Killed(name(machine), group, about, index + 1, first, verdict.guarantee)
    return Killed(name(machine), group, about, None)


def _spare(machine: type[Machine], tried: list[Case]) -> Spared:
    accused = unknown = 0
    for index, case in enumerate(tried):
        verdict = verdict_on(machine, case, index)
        accused += isinstance(verdict, Violates)
        unknown += isinstance(verdict, Inconclusive)
    return Spared(name(machine), (machine.__doc__ or "").strip(), len(tried), accused, unknown)


MOST_CASES = 200


@lru_cache(maxsize=1)
def _first(plan: Plan, can: Capabilities) -> list[Planned]:
    return [each for each in islice(plan, MOST_CASES) if not can.unsupported(each.case)]


def kills(plan: Plan, can: Capabilities, mutant: str) -> tuple[int, bool]:
    """How many of the first cases of a plan an engine can run, and whether they convict a broken one."""
    machine, cases = MUTANTS[mutant], _first(plan, can)
    return len(cases), any(judge_run(each.case, machine(each.request(0)).run()).verdict == "violates" for each in cases)


class MutationScore:
    """
    How many of the broken engines a campaign's own cases convict, found out while its engine is busy.

    One mutant at a time, so that verdicts on the engine do not queue behind them.
    """

    def __init__(self, plan: Plan, can: Capabilities, executor: Executor) -> None:
        self._plan = plan
        self._can = can
        self._executor = executor
        self._left = list(MUTANTS)
        self._asked: dict[str, Future[tuple[int, bool]]] = {}

    def advance(self) -> None:
        """Try the next mutant, if the one before is done."""
        if self._left and all(future.done() for future in self._asked.values()):
            mutant = self._left.pop(0)
            self._asked[mutant] = self._executor.submit(kills, self._plan, self._can, mutant)

    def measured(self) -> Measured:
        """The figures, once all are done."""
        asked = self._executor.submit_all([partial(kills, self._plan, self._can, mutant) for mutant in self._left])
        self._asked |= dict(zip(self._left, asked, strict=True))
        self._left = []
        found = {mutant: future.result() for mutant, future in self._asked.items()}
        survived = tuple(mutant for mutant, (_, killed) in found.items() if not killed)
        return Measured(max(cases for cases, _ in found.values()), len(MUTANTS) - len(survived), survived)
