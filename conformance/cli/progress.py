"""Progress of a campaign: a bar on a terminal, plain lines elsewhere."""

import os
import sys
import threading
from collections import Counter
from time import monotonic
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from conformance.campaign.events import CampaignEvent, Examined, GaveUp, Judged, Shrunk
from conformance.campaign.tally import Tally
from conformance.cli.say import say
from conformance.errors import printable

FEW = 10
"""The number of cases before which the remaining time is not estimated."""

INTERVAL = 10.0
"""Seconds between two plain lines."""

STEADY = 3
"""The factor of the mean time for a case within which the next one has to end, so that there is an estimate."""

STARTING = "starting"


def activity(event: CampaignEvent, tally: Tally) -> str:
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
    """A progress bar for each engine, with the time so far, an estimate of the remaining time, and the outcomes."""

    def __init__(self) -> None:
        self._bars = Progress(
            _plain("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            _plain("{task.fields[remaining]}"),
            _plain("{task.fields[counts]}"),
            console=Console(stderr=True),
        )
        self._total = 0
        self._throughput = Throughput()

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def start(self, engine: str) -> None:
        self._task = self._bars.add_task(printable(engine), total=None, remaining="", counts=STARTING)

    def begin(self, total: int) -> None:
        self._total, self._throughput = total, Throughput()
        self._bars.reset(self._task, total=total, remaining="", counts="")

    def follow(self, event: CampaignEvent, tally: Tally) -> None:
        if isinstance(event, Judged):
            self._throughput.tick()
            remaining = self._throughput.remaining(self._total - len(tally.judged))
            self._bars.update(self._task, advance=1, remaining=remaining, counts=counts_of(tally))
        elif text := activity(event, tally):
            self._bars.update(self._task, remaining="", counts=printable(text))


class Lines:
    """
    The same as plain lines, for a log.

    There is a line every few seconds, also while the campaign waits for an engine that runs many cases at once.
    """

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._ended = threading.Event()
        self._repeating = threading.Thread(target=self._repeat, name="progress", daemon=True)
        self._engine = self._doing = ""
        self._total = 0
        self._tally = Tally()
        self._throughput = Throughput()
        self._due = monotonic()

    def __enter__(self) -> Self:
        self._repeating.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._repeating.join()

    def start(self, engine: str) -> None:
        with self._changing:
            self._engine, self._doing, self._throughput = engine, STARTING, Throughput()
            self._print(STARTING)

    def begin(self, total: int) -> None:
        with self._changing:
            self._total, self._throughput = total, Throughput()
            self._tally, self._doing = Tally(), ""
            self._print(f"{total} cases")

    def follow(self, event: CampaignEvent, tally: Tally) -> None:
        with self._changing:
            self._tally = tally
            if isinstance(event, Judged):
                self._throughput.tick()
            if text := activity(event, tally):
                self._doing = text
                if not isinstance(event, Examined):
                    self._print(text)
            elif not self._doing and monotonic() >= self._due:
                self._print(self._status())

    def _repeat(self) -> None:
        while not self._ended.wait(INTERVAL / 20):
            with self._changing:
                if self._engine and monotonic() >= self._due:
                    self._print(self._status())

    def _status(self) -> str:
        so_far = format_seconds(self._throughput.seconds)
        if self._doing:
            return f"{self._doing}; {so_far} so far"
        done = len(self._tally.judged)
        parts = [f"{done} of {self._total} cases in {so_far}", counts_of(self._tally)]
        return "; ".join(filter(None, [*parts, self._throughput.remaining(self._total - done)]))

    def _print(self, text: str) -> None:
        self._due = monotonic() + INTERVAL
        say(printable(f"{self._engine}: {text}"), err=True)


class Throughput:
    """The throughput of cases since the start."""

    def __init__(self) -> None:
        self._since = self._latest = monotonic()
        self._done = 0

    @property
    def seconds(self) -> float:
        """The seconds since the start."""
        return monotonic() - self._since

    def tick(self) -> None:
        """Count a case."""
        self._latest = monotonic()
        self._done += 1

    def remaining(self, cases: int) -> str:
        """
        Estimate the time for so many cases from the time for all cases so far; the empty string if that is no measure.

        It is none at the beginning, nor while an engine that runs many cases at once is busy with the slowest of them.
        """
        if not cases or self._done < max(FEW, cases / 4):
            return ""
        if monotonic() - self._latest > STEADY * self.seconds / self._done:
            return ""
        return f"about {format_seconds(cases * self.seconds / self._done)} left"


def format_seconds(seconds: float) -> str:
    """Format a time as minutes and seconds."""
    return f"{round(seconds) // 60}:{round(seconds) % 60:02}"


def progress() -> Bars | Lines:
    """Return bars on a terminal, lines elsewhere and in continuous integration."""
    plain = not sys.stderr.isatty() or os.environ.get("CI", "").lower() in {"1", "true"}
    return Lines() if plain else Bars()
