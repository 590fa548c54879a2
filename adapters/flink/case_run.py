"""One case of a job: how far it is, and what was seen of it."""

from collections.abc import Collection
from time import time

from attrs import define, field

from conformance.adapters.flink.control import Progress
from conformance.adapters.flink.job import Placed
from conformance.case import Failure
from conformance.engine import RunRequest
from conformance.observation import Fired, Observation

BEGINNING = 0.3
"""Seconds within which operators that are restored together have all been opened."""


@define
class Ran:
    """A case that runs, or has run."""

    job: RunRequest
    placed: Placed
    progress: Progress
    gets_ahead: bool
    observations: list[Observation] = field(factory=list)
    fired: list[Fired] = field(factory=list)
    overlapped: set[int] = field(factory=set)
    in_flight: int = 0
    """Bytes of messages in flight that checkpoints hold."""
    struck: float = 0.0
    """When something last failed."""
    victims: Collection[str] = ()
    """The operators that failed then, if it is known which."""

    @property
    def armed(self) -> Failure | None:
        """The failure that is to strike next."""
        failures = self.job.case.failures
        return failures[len(self.fired)] if len(self.fired) < len(failures) else None

    def fails(self, when: float, victims: Collection[str]) -> None:
        """Something fails, or is about to: whoever stands still is not to keep the others from being restored."""
        self.struck, self.victims = when, victims

    def is_to_be_restored(self, who: str, since: float) -> bool:
        """
        Whether an operator that has stood still since then is one of an attempt that has failed.

        It is if it was opened before the failure. One that was opened after it may be so, too, as operators do not all
        begin at once; then those that failed have not been opened again.
        """
        opened = self.progress.opened
        down = any(opened.get(victim, self.struck) < self.struck for victim in self.victims)
        return opened[who] < self.struck or (down and time() > since + BEGINNING)

    def has_played(self, epoch: int) -> bool:
        """Whether all sources have passed a border, each since it was last opened."""
        sources = self.job.case.graph.sources
        wanted = min(epoch, self.job.case.epochs)
        return all(self.progress.passed.get(f"source:{source}", -1) >= wanted for source in sources)

    def has_passed(self, epoch: int) -> bool:
        """Whether all tasks have passed a border."""
        return all(self.progress.passed.get(name, 0) >= epoch for name in self.placed.tasks)

    def incarnations(self) -> dict[str, str]:
        """Which incarnation of each source there is."""
        return {who: me for who, me in self.progress.me.items() if who.startswith("source:")}
