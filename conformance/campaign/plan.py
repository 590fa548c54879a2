"""Which cases a campaign runs, in which order, and what is observed of each: a value, so any process can tell."""

from collections.abc import Callable, Iterator
from functools import cache, cached_property
from importlib.metadata import version
from itertools import islice
from typing import TypeAlias

from attrs import evolve, field, frozen
from hypothesis.strategies import SearchStrategy

from conformance import __version__
from conformance.branches import split
from conformance.campaign.events import Began
from conformance.case import Case, Kill
from conformance.engine import EVERYTHING, Capabilities, RunRequest
from conformance.generators import DEEP, DEFAULT, cases, corpus
from conformance.generators.collect import Numbered
from conformance.generators.sizes import Size


@frozen
class Profile:
    """How many generated cases follow the corpus, of which size, and how many of them may kill processes."""

    cases: int
    size: Size = DEFAULT
    kills: int | None = None


PROFILES = {
    "quick": Profile(100, kills=5),
    "standard": Profile(1_000),
    "deep": Profile(10_000, size=DEEP),
}

SINKS_ONLY = 4
"""Every so manyeth case shows its sinks only, as taps change what an engine does."""


@frozen
class Planned:
    """A case with its place in a campaign. `number` is the generator's, None for the corpus."""

    index: int
    id: str
    case: Case
    number: int | None = None

    @property
    def sinks_only(self) -> bool:
        """Whether only its sinks are observed."""
        return self.index % SINKS_ONLY == SINKS_ONLY - 1

    def request(self, deadline: float) -> RunRequest:
        """What an engine is asked."""
        return request_of(self.case, sinks_only=self.sinks_only, deadline=deadline)


def request_of(case: Case, *, sinks_only: bool, deadline: float) -> RunRequest:
    """A case as a request. The seed is the one of `conformance run`, so that it repeats what happens in a campaign."""
    return RunRequest(case, frozenset(case.graph.sinks if sinks_only else case.graph.streams), seconds=deadline)


@cache
def _corpus() -> tuple[tuple[str, Case], ...]:
    return tuple(corpus().items())


Draws: TypeAlias = Callable[..., Numbered[Case]]
"""Makes the numbered values of a strategy and a `seed`."""


@frozen(slots=False)
class Plan:
    """The corpus, then so many generated cases. Who draws them makes no difference to which they are."""

    profile: str = "quick"
    number: int = PROFILES["quick"].cases
    seed: int = 0
    capabilities: Capabilities = field(default=EVERYTHING)
    draws: Draws = field(default=Numbered, eq=False, repr=False)

    @cached_property
    def numbered(self) -> Numbered[Case]:
        """The cases that this plan draws from, by number."""
        return self.draws(self.strategy, seed=self.seed)

    @property
    def strategy(self) -> SearchStrategy[Case]:
        """What this plan draws from."""
        return cases(capabilities=self.capabilities, size=PROFILES[self.profile].size)

    def __len__(self) -> int:
        return len(_corpus()) + self.number

    def __iter__(self) -> Iterator[Planned]:
        for index, (name, case) in enumerate(_corpus()):
            yield Planned(index, name, split(case) if self.capabilities.branches else case)
        for place, (number, case) in enumerate(islice(self._generated(), self.number), start=1):
            named = evolve(case, name=f"generated {place} of seed {self.seed}")
            yield Planned(len(_corpus()) + place - 1, f"generated-{place:05}", named, number)

    def _generated(self) -> Iterator[tuple[int, Case]]:
        kills = PROFILES[self.profile].kills
        for number, case in self.numbered.distinct():
            if kills is not None and any(isinstance(failure, Kill) for failure in case.failures):
                if not kills:
                    continue
                kills -= 1
            yield number, case


def versions() -> tuple[str, str]:
    """What decides, besides a seed, which cases are drawn: our own version, and that of Hypothesis."""
    return __version__, version("hypothesis")


def plan_of(began: Began, draws: Draws = Numbered) -> Plan:
    """The plan that a campaign began with."""
    return Plan(began.profile, began.cases, began.seed, began.capabilities, draws)
