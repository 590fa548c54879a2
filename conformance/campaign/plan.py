"""
The plan of a campaign: which cases run, in which order, and what is observed of each.

A plan is a value, so every process that has it draws the same cases.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from importlib.metadata import version
from itertools import islice, product
from typing import TypeAlias

from attrs import evolve, field, frozen
from hypothesis.strategies import SearchStrategy

from conformance import __version__, interruption
from conformance.branches import split_keyed_sums
from conformance.campaign.events import Began
from conformance.case import PHASES, TARGETS, Case, Kill, Phase
from conformance.engine import EVERYTHING, Capabilities, RunRequest
from conformance.generators import DEEP, DEFAULT, cases, corpus
from conformance.generators.collect import Numbered
from conformance.generators.sizes import Size


@frozen
class Profile:
    """The number of generated cases after the corpus, their size, and how many of them may kill processes."""

    cases: int
    size: Size = DEFAULT
    kills: int | None = None


PROFILES = {
    "quick": Profile(100, kills=5),
    "standard": Profile(1_000),
    "deep": Profile(10_000, size=DEEP),
}

SINKS_ONLY = 4
"""One case in so many is observed at its sinks only, because taps change what an engine does."""


CONTROLS = 10
"""At most one generated case in so many has no failure. Such a control says nothing about recovery."""

GENERATED = "generated-"
"""What the ids of generated cases start with."""


@frozen
class Planned:
    """
    A case of a campaign.

    `index` is its place in the plan, `id` the name of its files, `draw_number` the number under which the generator
    drew it (None for the corpus). The name of the case itself is for readers, and its digest is its identity.
    """

    index: int
    id: str
    case: Case
    draw_number: int | None = None

    @property
    def sinks_only(self) -> bool:
        """Whether only the sinks of the case are observed."""
        return self.index % SINKS_ONLY == SINKS_ONLY - 1

    def request(self, deadline: float) -> RunRequest:
        """Make the request for an engine."""
        return request_of(self.case, sinks_only=self.sinks_only, deadline=deadline)


def request_of(case: Case, *, sinks_only: bool, deadline: float) -> RunRequest:
    """Make a request of a case. Its seed is that of `conformance run`, which therefore repeats what a campaign did."""
    return RunRequest(case, frozenset(case.graph.sinks if sinks_only else case.graph.streams), seconds=deadline)


def is_generated(case_id: str) -> bool:
    """Tell whether the case with this id was generated; the others are those of the corpus."""
    return case_id.startswith(GENERATED)


@cache
def _corpus() -> tuple[tuple[str, Case], ...]:
    return tuple(corpus().items())


DrawCases: TypeAlias = Callable[..., Numbered[Case]]
"""Returns the values of a strategy under a `seed`, by number."""


@frozen(slots=False)
class Plan:
    """The corpus, then generated cases. `draw` draws them here or on a cluster, with the same result."""

    profile: str = "quick"
    generated: int = PROFILES["quick"].cases
    """The number of generated cases."""
    seed: int = 0
    capabilities: Capabilities = field(default=EVERYTHING)
    draw: DrawCases = field(default=Numbered, eq=False, repr=False)

    @cached_property
    def numbered(self) -> Numbered[Case]:
        """The generated cases, by number."""
        return self.draw(self.strategy, seed=self.seed)

    @property
    def strategy(self) -> SearchStrategy[Case]:
        """The strategy that cases are drawn from."""
        return cases(capabilities=self.capabilities, size=PROFILES[self.profile].size)

    def __len__(self) -> int:
        return len(_corpus()) + self.generated

    def __iter__(self) -> Iterator[Planned]:
        for index, (name, case) in enumerate(_corpus()):
            yield Planned(index, name, split_keyed_sums(case) if self.capabilities.branches else case)
        for position, (number, case) in enumerate(islice(self._generated(), self.generated), start=1):
            named = evolve(case, name=f"generated {position} of seed {self.seed}")
            yield Planned(len(_corpus()) + position - 1, f"{GENERATED}{position:05}", named, number)

    def _generated(self) -> Iterator[tuple[int, Case]]:
        """Choose among the drawn cases: not too many kills, which take long, and not too many controls."""
        most_kills = PROFILES[self.profile].kills
        # An engine that only kills can fail has nothing to replace controls by when there are kills enough.
        limits_controls = any(most_kills is None or not name.startswith("kill") for name in self.capabilities.failures)
        chosen = controls = 0
        sample = KillSample(most_kills, self.capabilities)
        for number, case in self.numbered.distinct():
            interruption.check()
            is_control = not case.failures
            too_many_controls = limits_controls and is_control and controls * CONTROLS > chosen
            if too_many_controls or not sample.admits(case):
                continue
            chosen, controls = chosen + 1, controls + is_control
            yield number, case


def kills(case: Case) -> frozenset[tuple[str, Phase]]:
    """Return the targets and phases of the kills of a case."""
    return frozenset((each.target, each.effective_phase) for each in case.failures if isinstance(each, Kill))


class KillSample:
    """
    Chooses the few generated cases with kills of a campaign that cannot have many.

    A case is admitted if one of its kills, by target and phase, is as rare as any in the corpus and the sample so far.
    So no target and phase is tried again before all have been tried.
    """

    def __init__(self, most: int | None, capabilities: Capabilities) -> None:
        self._remaining = most
        possible = product(TARGETS, PHASES)
        self._tried = Counter({kill: 0 for kill in possible if capabilities.can_inject(Kill(kill[0], 1, kill[1]))})
        self._tried.update(kill for _, case in _corpus() if not capabilities.unsupported(case) for kill in kills(case))

    def admits(self, case: Case) -> bool:
        """Tell whether a case belongs to the campaign, and count its kills if it does."""
        if self._remaining is None or not (found := kills(case)):
            return True
        rarest = min(self._tried.values())
        if not self._remaining or all(self._tried[kill] > rarest for kill in found):
            return False
        self._remaining -= 1
        self._tried.update(found)
        return True


def versions() -> tuple[str, str]:
    """Return what determines the cases of a seed: the versions of this package and of Hypothesis."""
    return __version__, version("hypothesis")


def plan_of(began: Began, draw: DrawCases = Numbered) -> Plan:
    """Return the plan of a campaign."""
    return Plan(began.profile, began.cases, began.seed, began.capabilities, draw)
