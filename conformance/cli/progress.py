"""How far a campaign is: a bar where somebody looks, plain lines where nobody does."""

import os
import sys
from collections import Counter
from time import monotonic
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from conformance.campaign.events import Event, Examined, GaveUp, Judged, Shrunk
from conformance.campaign.tally import Tally
from conformance.cli.say import say
from conformance.errors import printable

FEW = 10
"""Cases that say nothing yet of how long all of them take."""

EVERY = 10.0
"""Seconds between two plain lines."""


def words(event: Event, tally: Tally) -> str:
    """What is being done now, after the cases."""
    match event:
        case Examined():
            left = sum(judged.outcome == "violates" for judged in tally.judged.values())
            return f"looking again at violations: {len(tally.examined)} of {left}"
        case Shrunk(guarantee=guarantee, before=before, after=after):
            return f"{guarantee}: shrunk from {before} to {after}"
        case GaveUp(because=because):
            return f"given up: {because}"
    return ""


def counts_of(tally: Tally) -> str:
    """The verdicts so far."""
    counts = Counter(judged.outcome for judged in tally.judged.values())
    return ", ".join(f"{number} {outcome}" for outcome, number in counts.most_common())


def _plain(text: str) -> TextColumn:
    """Text is text: an engine's words are no markup."""
    return TextColumn(text, markup=False)


class Bars:
    """A bar for each engine, with what is left, how fast it goes, and the verdicts."""

    def __init__(self) -> None:
        self._bars = Progress(
            _plain("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            _plain("{task.fields[pace]}"),
            TimeRemainingColumn(),
            _plain("{task.fields[counts]}"),
            console=Console(stderr=True),
        )
        self._rate = Throughput()

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def begin(self, engine: str, total: int) -> None:
        self._rate = Throughput()
        self._task = self._bars.add_task(printable(engine), total=total, pace="", counts="")

    def follow(self, event: Event, tally: Tally) -> None:
        if isinstance(event, Judged):
            self._bars.update(self._task, advance=1, pace=self._rate.tick(), counts=counts_of(tally))
        elif said := words(event, tally):
            self._bars.update(self._task, counts=printable(said))


class Lines:
    """The same in plain lines, one every few seconds, for a log."""

    def __init__(self) -> None:
        self._due = monotonic() + EVERY
        self._rate = Throughput()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing was started."""

    def begin(self, engine: str, total: int) -> None:
        self._engine, self._total, self._rate = engine, total, Throughput()
        self._say(f"{total} cases")

    def follow(self, event: Event, tally: Tally) -> None:
        if isinstance(event, Judged):
            pace = self._rate.tick()
            if monotonic() >= self._due:
                left = self._rate.left(self._total - len(tally.judged))
                self._say(f"{len(tally.judged)} of {self._total} cases, {pace}, {left}; {counts_of(tally)}")
        elif (said := words(event, tally)) and (not isinstance(event, Examined) or monotonic() >= self._due):
            self._say(said)

    def _say(self, what: str) -> None:
        self._due = monotonic() + EVERY
        say(printable(f"{self._engine}: {what}"), err=True)


class Throughput:
    """How fast cases go, since this began."""

    def __init__(self) -> None:
        self._since = monotonic()
        self._done = 0

    def tick(self) -> str:
        """One more; how many that are a minute."""
        self._done += 1
        return f"{60 * self._done / max(monotonic() - self._since, 0.001):.0f}/min"

    def left(self, cases: int) -> str:
        """How long so many will take. The first come late, as an engine has to be started, and many at once."""
        if self._done < FEW <= cases:
            return "too early to say how long"
        seconds = round(cases * (monotonic() - self._since) / max(self._done, 1))
        return f"{seconds // 60}:{seconds % 60:02} left"


def progress() -> Bars | Lines:
    """Bars on a terminal, lines elsewhere and in continuous integration."""
    plain = not sys.stderr.isatty() or os.environ.get("CI", "").lower() in {"1", "true"}
    return Lines() if plain else Bars()
