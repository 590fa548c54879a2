"""Progress of a campaign: a bar on a terminal, plain lines elsewhere."""

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
"""The number of cases before which the remaining time is not estimated."""

INTERVAL = 10.0
"""Seconds between two plain lines."""


def activity(event: Event, tally: Tally) -> str:
    """Describe what the campaign does after its cases have run."""
    match event:
        case Examined():
            violations = sum(judged.outcome == "violates" for judged in tally.judged.values())
            return f"examining violations: {len(tally.examined)} of {violations}"
        case Shrunk(guarantee=guarantee, before=before, after=after):
            return f"{guarantee}: shrunk from {before} to {after}"
        case GaveUp(because=because):
            return f"given up: {because}"
    return ""


def counts_of(tally: Tally) -> str:
    """Count the outcomes so far."""
    counts = Counter(judged.outcome for judged in tally.judged.values())
    return ", ".join(f"{number} {outcome}" for outcome, number in counts.most_common())


def _plain(text: str) -> TextColumn:
    """Make a column of plain text, because the text of an engine is no markup."""
    return TextColumn(text, markup=False)


class Bars:
    """A progress bar for each engine, with its throughput, the remaining time and the outcomes."""

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
        self._throughput = Throughput()

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def begin(self, engine: str, total: int) -> None:
        self._throughput = Throughput()
        self._task = self._bars.add_task(printable(engine), total=total, pace="", counts="")

    def follow(self, event: Event, tally: Tally) -> None:
        if isinstance(event, Judged):
            self._bars.update(self._task, advance=1, pace=self._throughput.tick(), counts=counts_of(tally))
        elif text := activity(event, tally):
            self._bars.update(self._task, counts=printable(text))


class Lines:
    """The same as plain lines, one every few seconds, for a log."""

    def __init__(self) -> None:
        self._due = monotonic() + INTERVAL
        self._throughput = Throughput()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Do nothing: there is nothing to end."""

    def begin(self, engine: str, total: int) -> None:
        self._engine, self._total, self._throughput = engine, total, Throughput()
        self._print(f"{total} cases")

    def follow(self, event: Event, tally: Tally) -> None:
        if isinstance(event, Judged):
            pace = self._throughput.tick()
            if monotonic() >= self._due:
                remaining = self._throughput.remaining(self._total - len(tally.judged))
                self._print(f"{len(tally.judged)} of {self._total} cases, {pace}, {remaining}; {counts_of(tally)}")
        elif (text := activity(event, tally)) and (not isinstance(event, Examined) or monotonic() >= self._due):
            self._print(text)

    def _print(self, text: str) -> None:
        self._due = monotonic() + INTERVAL
        say(printable(f"{self._engine}: {text}"), err=True)


class Throughput:
    """The throughput of cases since the start."""

    def __init__(self) -> None:
        self._since = monotonic()
        self._done = 0

    def tick(self) -> str:
        """Count a case; return the number of cases per minute."""
        self._done += 1
        return f"{60 * self._done / max(monotonic() - self._since, 0.001):.0f}/min"

    def remaining(self, cases: int) -> str:
        """Estimate the time for so many cases. The first are no measure: the engine starts, and many come at once."""
        if self._done < FEW <= cases:
            return "too early to say how long"
        seconds = round(cases * (monotonic() - self._since) / max(self._done, 1))
        return f"{seconds // 60}:{seconds % 60:02} left"


def progress() -> Bars | Lines:
    """Return bars on a terminal, lines elsewhere and in continuous integration."""
    plain = not sys.stderr.isatty() or os.environ.get("CI", "").lower() in {"1", "true"}
    return Lines() if plain else Bars()
