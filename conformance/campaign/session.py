"""Campaigns from their beginning to their end: in a folder, on a started engine, with every event on the disk."""

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from functools import reduce
from pathlib import Path

from attrs import evolve, frozen

from conformance.adapters.subprocess_engine import SubprocessEngine
from conformance.campaign.artifacts import Artifacts, Keep, open_artifacts
from conformance.campaign.events import Began, Ended, Event, Examined, Judged, Shrunk
from conformance.campaign.executor import Executor, LocalExecutor
from conformance.campaign.journal import read_events
from conformance.campaign.plan import PROFILES, plan_of, versions
from conformance.campaign.results import JOURNAL, Results, slug
from conformance.campaign.runner import Campaign
from conformance.campaign.tally import Tally
from conformance.engine import Capabilities, Description
from conformance.errors import EngineUnavailable, Malformed, Unreadable, quote

LONGEST = 86_400.0
MOST = 10**9


@frozen
class CampaignConfig:
    """What is asked of a campaign."""

    profile: str = "quick"
    cases: int | None = None
    seed: int = 0
    deadline: float = 60.0
    shrink_runs: int = 500
    shrink_seconds: float = 300.0

    def __attrs_post_init__(self) -> None:
        for name, most in (("deadline", LONGEST), ("shrink_seconds", LONGEST)):
            value = getattr(self, name)
            if not 0 < value <= most:
                raise Malformed(quote(value), f"more than 0 and at most {most:,.0f} seconds", path=(name,))
        for name in ("cases", "seed", "shrink_runs"):
            if (value := getattr(self, name)) is not None and not 0 <= value <= MOST:
                raise Malformed(quote(value), f"a number from 0 to {MOST:,}", path=(name,))

    def began(self, word: str, description: Description, capabilities: Capabilities) -> Began:
        """The first event of a campaign that does this."""
        if not capabilities.programs:
            raise EngineUnavailable(f"{word} supports no program that it could be tested with")
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
            suite=versions()[0],
            hypothesis=versions()[1],
            python=platform.python_version(),
            system=platform.system(),
            machine=platform.machine(),
            date=date.today().isoformat(),  # noqa: DTZ011 - the day where the user is
        )


def begin_together(order: CampaignConfig, folders: Mapping[str, Path]) -> None:
    """
    Campaigns of several engines, each in a folder from which it can be gone on with.

    What one engine can do its cases are made for; of several, what all of them can.
    """
    every = {word: Results(folder) for word, folder in folders.items()}
    engines = {word: SubprocessEngine(word, log=results.log()) for word, results in every.items()}
    for results in every.values():
        results.make()
    described = {}
    for word, engine in engines.items():
        with running(engine) as description:
            described[word] = description
    can = reduce(Capabilities.common, (description.capabilities for description in described.values()))
    for word, description in described.items():
        every[word].begin(order.began(word, description, can))


def new_folder(place: Path, words: Sequence[str]) -> Path:
    """A folder for a campaign that begins now."""
    now = datetime.now().strftime("%Y%m%d-%H%M%S")  # noqa: DTZ005 - the time where the user is
    return place / f"{'+'.join(map(slug, words))[:100]}-{now}"


@contextmanager
def running(engine: SubprocessEngine) -> Iterator[Description]:
    """An engine is started, and ended: in good order if all went well, and at once if not."""
    try:
        yield engine.start()
    except BaseException:
        engine.kill()
        raise
    finally:
        engine.stop()


def certify(
    word: str,
    order: CampaignConfig,
    folder: Path,
    make_executor: Callable[[], Executor] = LocalExecutor,
    keep: Keep = "failed",
) -> Iterator[Event]:
    """A campaign on one engine, in a new folder, from its beginning to its end."""
    results = Results(folder)
    with open_artifacts(results, keep) as artifacts:
        engine = SubprocessEngine(word, log=results.log(), environment=artifacts.environment)
        results.make()
        with running(engine) as description:
            results.begin(order.began(word, description, description.capabilities))
            yield from _to_the_end(artifacts, engine, make_executor())


def proceed(
    results: Results, make_executor: Callable[[], Executor] = LocalExecutor, keep: Keep = "failed"
) -> Iterator[Event]:
    """
    Go on with the campaign in a folder, to its end.

    The events that were there already come first, so whoever follows sees the whole campaign.
    """
    events = read_events(results.folder / JOURNAL)
    if not events or not isinstance(began := events[0], Began):
        raise Unreadable(str(results.folder), "no campaign was begun in it", "Leave --resume away to begin one.")
    if isinstance(events[-1], Ended):
        yield from events
        return
    _check_suite(began)
    _check_events(began, events, results)
    results.make_folders()
    with open_artifacts(results, keep) as artifacts:
        engine = SubprocessEngine(began.engine, log=results.log(), environment=artifacts.environment)
        with running(engine) as description:
            _check_engine(began, description)
            yield from _to_the_end(artifacts, engine, make_executor())


def _to_the_end(artifacts: Artifacts, engine: SubprocessEngine, executor: Executor) -> Iterator[Event]:
    """What happened, and what happens now: every event is on the disk before it is given."""
    results = artifacts.results
    try:
        with results.journal() as journal:
            tally = Tally.of(journal.events)
            yield from journal.events
            assert tally.began is not None  # noqa: S101 - it was begun
            for event in Campaign(tally.began, engine, executor, results, artifacts).go_on(tally):
                journal.write(event)
                tally.add(event)
                yield event
    finally:
        executor.close()


def _check_suite(began: Began) -> None:
    """Another version makes other cases of a seed."""
    now = versions()
    if (began.suite, began.hypothesis) != now:
        raise EngineUnavailable(
            f"the campaign was begun with dataflow-conformance {began.suite} and Hypothesis {began.hypothesis}, "
            f"and these are {now[0]} and {now[1]}: install those again, or begin anew"
        )


def _check_events(began: Began, events: Sequence[Event], results: Results) -> None:
    """What is to be gone on with is a campaign of this plan."""
    planned = [each.id for each in plan_of(began)]
    for event in events:
        if isinstance(event, Judged | Examined | Shrunk) and not 0 <= event.index < len(planned):
            raise Malformed(f"case {event.index}", f"one of {len(planned)}", file=str(results.folder / JOURNAL))
        if isinstance(event, Judged | Shrunk) and event.id != planned[event.index]:
            raise Malformed(quote(event.id), planned[event.index], file=str(results.folder / JOURNAL))


def _check_engine(began: Began, description: Description) -> None:
    if evolve(description, batch=began.description.batch) != began.description:
        raise EngineUnavailable(
            f"the campaign was begun on {began.description.info.name} {began.description.info.version}, and this is "
            f"{description.info.name} {description.info.version}, or one that claims something else: begin anew"
        )
