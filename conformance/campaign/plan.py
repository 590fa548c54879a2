"""
The plan of a campaign: which cases run, in which order, and what is observed of each.

A plan is a value, so every process that has it draws the same cases.
"""

from collections.abc import Callable, Iterator
from functools import cache, cached_property
from importlib.metadata import version
from itertools import islice
from typing import TypeAlias

from attrs import evolve, field, frozen
from hypothesis.strategies import SearchStrategy

from conformance import __version__, interruption
from conformance.branches import split
from conformance.campaign.events import Began
from conformance.case import Case, Kill
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

    `index` is its place in the plan, `id` the name of its files, `number` its number in the generator (None for the
    corpus). The name of the case itself is for readers, and its digest is its identity.
    """

    index: int
    id: str
    case: Case
    number: int | None = None

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


CaseSource: TypeAlias = Callable[..., Numbered[Case]]
"""Returns the values of a strategy under a `seed`, by number."""


@frozen(slots=False)
class Plan:
    """The corpus, then a number of generated cases. Which cases they are does not depend on `draw`."""

    profile: str = "quick"
    number: int = PROFILES["quick"].cases
    seed: int = 0
    capabilities: Capabilities = field(default=EVERYTHING)
    draw: CaseSource = field(default=Numbered, eq=False, repr=False)

    @cached_property
    def numbered(self) -> Numbered[Case]:
        """The generated cases, by number."""
        return self.draw(self.strategy, seed=self.seed)

    @property
    def strategy(self) -> SearchStrategy[Case]:
        """The strategy that cases are drawn from."""
        return cases(capabilities=self.capabilities, size=PROFILES[self.profile].size)

    def __len__(self) -> int:
        return len(_corpus()) + self.number

    def __iter__(self) -> Iterator[Planned]:
        for index, (name, case) in enumerate(_corpus()):
            yield Planned(index, name, split(case) if self.capabilities.branches else case)
        for position, (number, case) in enumerate(islice(self._generated(), self.number), start=1):
            named = evolve(case, name=f"generated {position} of seed {self.seed}")
            yield Planned(len(_corpus()) + position - 1, f"{GENERATED}{position:05}", named, number)

    def _generated(self) -> Iterator[tuple[int, Case]]:
        """Choose among the drawn cases: not too many kills, which take long, and not too many controls."""
        most_kills = PROFILES[self.profile].kills
        # An engine that only kills can fail has nothing to replace controls by when there are kills enough.
        limits_controls = any(most_kills is None or not name.startswith("kill") for name in self.capabilities.failures)
        chosen = controls = kills = 0
        for number, case in self.numbered.distinct():
            interruption.check()
            is_control = not case.failures
            has_kill = any(isinstance(failure, Kill) for failure in case.failures)
            too_many_controls = limits_controls and is_control and controls * CONTROLS > chosen
            if too_many_controls or (has_kill and kills == most_kills):
                continue
            chosen, controls, kills = chosen + 1, controls + is_control, kills + has_kill
            yield number, case


def versions() -> tuple[str, str]:
    """Return what determines the cases of a seed: the versions of this package and of Hypothesis."""
    return __version__, version("hypothesis")


def plan_of(began: Began, draw: CaseSource = Numbered) -> Plan:
    """Return the plan of a campaign."""
    return Plan(began.profile, began.cases, began.seed, began.capabilities, draw)
