"""
Mutation testing of the suite: every broken engine must be convicted, and no correct one accused.

A mutant is killed by the first generated case whose observations violate a guarantee. The number of cases that it takes
measures the generators and the judge together.
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
from conformance.generators import cases as generated
from conformance.generators import collect
from conformance.interruption import result_of
from conformance.judge import Budget, Inconclusive, Verdict, Violates, judge


@frozen
class Killed:
    """A broken engine, and the number of cases until it was convicted; None if it survived."""

    mutant: str
    group: str
    about: str
    cases: int | None
    diagnosis: str = ""
    guarantee: str = ""


@frozen
class Spared:
    """A correct engine: the number of its runs, of those that violate, and of those that are inconclusive."""

    mutant: str
    about: str
    runs: int
    accused: int
    unknown: int


SECONDS = 1.0
"""The limit for judging one run. A run that takes longer is inconclusive."""


def judge_mutant(machine: type[Machine], case: Case, seed: int) -> Verdict:
    """Run a case on a mutant and judge the run. A quarter of the cases are observed at their sinks only."""
    streams = case.graph.sinks if seed % 4 == 3 else case.graph.streams  # noqa: PLR2004
    if machine.epochs_by == "own":
        streams = case.graph.streams
    request = RunRequest(case, frozenset(streams), seed=seed)
    return judge(case, machine(request).run(), Budget.of_seconds(SECONDS))


@frozen
class MutantTrial:
    """A mutant on the first cases of a seed, until it is killed; a correct engine, which has no group, on all."""

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
    return collect(generated(), number=number, seed=seed) if number else []


def mutant_trials(*, number: int, runs: int, seed: int) -> list[MutantTrial]:
    """Make the trials of every mutant, with at most `number` cases, and of every correct engine, `runs` in all."""
    broken = [
        MutantTrial(name(machine), group, number, seed) for group, machines in GROUPS.items() for machine in machines
    ]
    return broken + [MutantTrial(odd, None, -(-runs // len(ODD)), seed + 1) for odd in ODD]


def run_mutants(*, number: int, runs: int, seed: int) -> Iterator[Killed | Spared]:
    """Run all trials, one after the other."""
    return (trial() for trial in mutant_trials(number=number, runs=runs, seed=seed))


def _kill(machine: type[Machine], group: str, cases: list[Case]) -> Killed:
    about = (machine.__doc__ or "").strip()
    for index, case in enumerate(cases):
        verdict = judge_mutant(machine, case, index)
        if isinstance(verdict, Violates):
            first = verdict.findings[0].diagnosis
            return Killed(name(machine), group, about, index + 1, first, verdict.guarantee)
    return Killed(name(machine), group, about, None)


def _spare(machine: type[Machine], cases: list[Case]) -> Spared:
    accused = unknown = 0
    for index, case in enumerate(cases):
        verdict = judge_mutant(machine, case, index)
        accused += isinstance(verdict, Violates)
        unknown += isinstance(verdict, Inconclusive)
    return Spared(name(machine), (machine.__doc__ or "").strip(), len(cases), accused, unknown)


MEASURED_CASES = 200
"""The number of cases of a campaign that mutants are run on."""


@lru_cache(maxsize=1)
def _first(plan: Plan, can: Capabilities) -> list[Planned]:
    return [each for each in islice(plan, MEASURED_CASES) if not can.unsupported(each.case)]


def kills(plan: Plan, can: Capabilities, mutant: str) -> tuple[int, bool]:
    """Return how many of the first cases of a plan the engine supports, and whether they convict a mutant."""
    machine, cases = MUTANTS[mutant], _first(plan, can)
    return len(cases), any(judge_run(each.case, machine(each.request(0)).run()).verdict == "violates" for each in cases)


class MutationScore:
    """
    The number of mutants that the cases of a campaign convict, measured while its engine is busy.

    Mutants run one at a time, so that verdicts on the engine do not queue behind them.
    """

    def __init__(self, plan: Plan, can: Capabilities, executor: Executor) -> None:
        self._plan = plan
        self._can = can
        self._executor = executor
        self._waiting = list(MUTANTS)
        self._results: dict[str, Future[tuple[int, bool]]] = {}

    def advance(self) -> None:
        """Start the next mutant, if the one before is done."""
        if self._waiting and all(future.done() for future in self._results.values()):
            mutant = self._waiting.pop(0)
            self._results[mutant] = self._executor.submit(kills, self._plan, self._can, mutant)

    def measured(self) -> Measured:
        """Wait for all mutants, and return the score."""
        results = self._executor.submit_all([partial(kills, self._plan, self._can, mutant) for mutant in self._waiting])
        self._results |= dict(zip(self._waiting, results, strict=True))
        self._waiting = []
        found = {mutant: result_of(future) for mutant, future in self._results.items()}
        survived = tuple(mutant for mutant, (_, killed) in found.items() if not killed)
        return Measured(max(cases for cases, _ in found.values()), len(MUTANTS) - len(survived), survived)
