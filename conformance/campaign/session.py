"""Campaigns from their beginning to their end: in a folder, on a started engine, with every event on the disk."""

import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from functools import reduce
from importlib.metadata import version
from pathlib import Path

from attrs import evolve, frozen

from adapters.serve import Hosted
from conformance import __version__
from conformance.campaign.events import Began, Event
from conformance.campaign.judging import Judges
from conformance.campaign.plan import PROFILES
from conformance.campaign.results import Results
from conformance.campaign.runner import Campaign
from conformance.campaign.tally import Tally
from conformance.engine import Capabilities, Description
from conformance.errors import EngineUnavailable, Unreadable


@frozen
class Order:
    """What is asked of a campaign."""

    profile: str = "quick"
    cases: int | None = None
    seed: int = 0
    deadline: float = 60.0
    shrink_runs: int = 500
    shrink_seconds: float = 300.0

    def began(self, word: str, description: Description, capabilities: Capabilities) -> Began:
        """The first event of a campaign that does this."""
        return Began(
            engine=word,
            description=description,
            capabilities=capabilities,
            profile=self.profile,
            cases=PROFILES[self.profile].cases if self.cases is None else self.cases,
            seed=self.seed,
            deadline=self.deadline,
            shrink_runs=self.shrink_runs,
            shrink_seconds=self.shrink_seconds,
            suite=__version__,
            hypothesis=version("hypothesis"),
            python=platform.python_version(),
            system=platform.system(),
            machine=platform.machine(),
            date=date.today().isoformat(),  # noqa: DTZ011 - the day where the user is
        )


def begin(order: Order, words: Sequence[str], folders: Sequence[Path]) -> None:
    """
    A folder for each engine, in which its campaign can be gone on with.

    Cases are made for what an engine can do; where several are compared, for what all of them can.
    """
    every = [Results(folder) for folder in folders]
    for results in every:
        results.make()
    described = []
    for word, results in zip(words, every, strict=True):
        with started(word, results) as (_, description):
            described.append(description)
    can = reduce(Capabilities.common, (description.capabilities for description in described))
    for word, results, description in zip(words, every, described, strict=True):
        results.begin(order.began(word, description, can))


@contextmanager
def started(word: str, results: Results) -> Iterator[tuple[Hosted, Description]]:
    """An engine, running; ended in good order if all went well, and at once if not."""
    engine = Hosted(word, log=results.log())
    try:
        yield engine, engine.start()
    except BaseException:
        engine.kill()
        raise
    finally:
        engine.stop()


def proceed(results: Results) -> Iterator[Event]:
    """
    Go on with the campaign in a folder, to its end; every event is on the disk before it is given.

    The events that were there already come first, so whoever follows sees the whole campaign.
    """
    with results.journal() as journal:
        if not journal.events or not isinstance(began := journal.events[0], Began):
            raise Unreadable(str(results.folder), "no campaign was begun in it", "Leave --resume away to begin one.")
        tally = Tally.of(journal.events)
        yield from journal.events
        if tally.ended:
            return
        _check_suite(began)
        judges = Judges()
        try:
            with started(began.engine, results) as (engine, description):
                _check_engine(began, description)
                for event in Campaign(began, engine, judges, results).go_on(tally):
                    journal.write(event)
                    tally.add(event)
                    yield event
        finally:
            judges.close()


def _check_suite(began: Began) -> None:
    """Another version makes other cases of a seed."""
    now = (__version__, version("hypothesis"))
    if (began.suite, began.hypothesis) != now:
        raise EngineUnavailable(
            f"the campaign was begun with dataflow-conformance {began.suite} and Hypothesis {began.hypothesis}, "
            f"and these are {now[0]} and {now[1]}: install those again, or begin anew"
        )


def _check_engine(began: Began, description: Description) -> None:
    if evolve(description, batch=began.description.batch) != began.description:
        raise EngineUnavailable(
            f"the campaign was begun on {began.description.info.name} {began.description.info.version}, and this is "
            f"{description.info.name} {description.info.version}, or one that claims something else: begin anew"
        )
