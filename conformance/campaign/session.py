"""Campaigns from beginning to end: in a results folder, on a started engine, every event in the journal."""

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from functools import reduce
from itertools import count
from pathlib import Path

from attrs import evolve, frozen

from conformance.adapters.subprocess_engine import SubprocessEngine
from conformance.campaign.artifacts import Artifacts, open_artifacts
from conformance.campaign.events import Began, CampaignEnded, CampaignEvent, Examined, Judged, Shrunk
from conformance.campaign.executor import Executor, LocalExecutor
from conformance.campaign.journal import read_events
from conformance.campaign.plan import PROFILES, plan_of, versions
from conformance.campaign.results import JOURNAL, Results, slug
from conformance.campaign.runner import Campaign
from conformance.campaign.tally import Tally
from conformance.engine import Capabilities, Description
from conformance.errors import EngineUnavailable, Malformed, Unreadable, Unwritable, quote
from conformance.settings import Keep

MOST_SECONDS = 86_400.0
MOST_NUMBER = 10**9


@frozen
class CampaignConfig:
    """The configuration of a campaign."""

    profile: str = "quick"
    cases: int | None = None
    seed: int = 0
    deadline: float = 60.0
    shrink_runs: int = 500
    shrink_seconds: float = 300.0

    def __attrs_post_init__(self) -> None:
        for name, most in (("deadline", MOST_SECONDS), ("shrink_seconds", MOST_SECONDS)):
            value = getattr(self, name)
            if not 0 < value <= most:
                raise Malformed(quote(value), f"more than 0 and at most {most:,.0f} seconds", path=(name,))
        for name in ("cases", "seed", "shrink_runs"):
            if (value := getattr(self, name)) is not None and not 0 <= value <= MOST_NUMBER:
                raise Malformed(quote(value), f"a number from 0 to {MOST_NUMBER:,}", path=(name,))

    def began(self, engine_name: str, description: Description, capabilities: Capabilities) -> Began:
        """Make the first event of a campaign with this configuration."""
        if not capabilities.programs:
            raise EngineUnavailable(f"{engine_name} supports none of the programs that cases are made of")
        return Began(
            engine=engine_name,
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


def begin_all(
    config: CampaignConfig, folders: Mapping[str, Path], announce: Callable[[str], None], *, skip_unavailable: bool
) -> dict[str, str]:
    """
    Begin campaigns of several engines, each in a folder in which it can be resumed; announce the start of each engine.

    Their cases are generated for the capabilities that all of the engines have. Return the engines that were skipped,
    because they cannot run here, with the reason.
    """
    every = {engine_name: Results(folder) for engine_name, folder in folders.items()}
    engines = {engine_name: SubprocessEngine(engine_name, log=results.log()) for engine_name, results in every.items()}
    for results in every.values():
        results.make()
    described, skipped = {}, {}
    for engine_name, engine in engines.items():
        announce(engine_name)
        try:
            with running(engine) as description:
                described[engine_name] = description
        except EngineUnavailable as error:
            if not skip_unavailable:
                raise
            skipped[engine_name] = str(error)
    can = reduce(Capabilities.common, (description.capabilities for description in described.values()))
    for engine_name, description in described.items():
        every[engine_name].begin(config.began(engine_name, description, can))
    return skipped


def new_folder(parent: Path, engine_names: Sequence[str]) -> Path:
    """Create a folder for a campaign that begins now. No other campaign gets the same one."""
    now = datetime.now().strftime("%Y%m%d-%H%M%S")  # noqa: DTZ005 - the time where the user is
    name = f"{'+'.join(map(slug, engine_names))[:100]}-{now}"
    for number in count(1):
        folder = parent / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            if not folder.exists():
                raise Unwritable(str(folder), error.strerror or str(error), "Give another folder.") from None
        else:
            return folder
    raise AssertionError("there is always another number")


@contextmanager
def running(engine: SubprocessEngine) -> Iterator[Description]:
    """Start an engine; stop it at the end, or kill it after an exception."""
    try:
        yield engine.start()
    except BaseException:
        engine.kill()
        raise
    finally:
        engine.stop()


def certify(
    engine_name: str,
    config: CampaignConfig,
    folder: Path,
    make_executor: Callable[[], Executor] = LocalExecutor,
    keep: Keep = "failed",
) -> Iterator[CampaignEvent]:
    """Run a campaign on one engine, in a new folder."""
    results = Results(folder)
    with open_artifacts(results, keep) as artifacts:
        engine = SubprocessEngine(engine_name, log=results.log(), environment=artifacts.environment)
        results.make()
        with running(engine) as description:
            results.begin(config.began(engine_name, description, description.capabilities))
            yield from _run(artifacts, engine, make_executor())


def resume(
    results: Results, make_executor: Callable[[], Executor] = LocalExecutor, keep: Keep = "failed"
) -> Iterator[CampaignEvent]:
    """
    Run the campaign in a folder to its end.

    The events of its journal come first, so the caller sees the whole campaign.
    """
    events = read_events(results.folder / JOURNAL)
    if not events or not isinstance(began := events[0], Began):
        raise Unreadable(str(results.folder), "no campaign was begun in it", "Omit --resume to start one.")
    if isinstance(events[-1], CampaignEnded):
        yield from events
        return
    _check_suite(began)
    _check_events(began, events, results)
    results.make_folders()
    with open_artifacts(results, keep) as artifacts:
        engine = SubprocessEngine(began.engine, log=results.log(), environment=artifacts.environment)
        with running(engine) as description:
            _check_engine(began, description)
            yield from _run(artifacts, engine, make_executor())


def _run(artifacts: Artifacts, engine: SubprocessEngine, executor: Executor) -> Iterator[CampaignEvent]:
    """Yield the events of the journal, then those that follow, each after it was written."""
    results = artifacts.results
    try:
        with results.journal() as journal:
            tally = Tally.of(journal.events)
            yield from journal.events
            assert tally.began is not None  # noqa: S101 - it has begun
            for event in Campaign(tally.began, engine, executor, results, artifacts).run(tally):
                journal.write(event)
                tally.add(event)
                yield event
    finally:
        executor.close()


def _check_suite(began: Began) -> None:
    """Refuse a campaign of another version, which draws other cases for the same seed."""
    installed = versions()
    if (began.suite, began.hypothesis) != installed:
        raise EngineUnavailable(
            f"the campaign began with dataflow-conformance {began.suite} and Hypothesis {began.hypothesis}, and these "
            f"are {installed[0]} and {installed[1]}: install the former versions to resume it, "
            "or omit --resume to start a new campaign"
        )


def _check_events(began: Began, events: Sequence[CampaignEvent], results: Results) -> None:
    """Refuse a journal whose cases are not those of its plan."""
    planned = [each.id for each in plan_of(began)]
    for event in events:
        if isinstance(event, Judged | Examined | Shrunk) and not 0 <= event.index < len(planned):
            raise Malformed(f"case {event.index}", f"one of {len(planned)}", file=str(results.folder / JOURNAL))
        if isinstance(event, Judged | Shrunk) and event.id != planned[event.index]:
            raise Malformed(quote(event.id), planned[event.index], file=str(results.folder / JOURNAL))


def _check_engine(began: Began, description: Description) -> None:
    former, now = began.description.info, description.info
    if former.name == now.name and former.version == now.version and former.settings != now.settings:
        changed = ", ".join(
            f"{name} {former.settings.get(name, 'not set')} (now {now.settings.get(name, 'not set')})"
            for name in {**former.settings, **now.settings}
            if former.settings.get(name) != now.settings.get(name)
        )
        raise EngineUnavailable(
            f"the campaign began on {now.name} {now.version} with {changed}: omit --resume to start a new campaign"
        )
    if evolve(description, batch=began.description.batch) != began.description:
        raise EngineUnavailable(
            f"the campaign began on {former.name} {former.version}, and this is {now.name} {now.version}, "
            "or one with other claims: omit --resume to start a new campaign"
        )
