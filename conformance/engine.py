"""
The interface of an engine under test: its capabilities, run requests, and the `Engine` protocol.

An adapter is a class with three methods. It is constructed with the settings behind its name (`spark:rocksdb`). Run
requests go in, `observation.Observations` come out; the judge never sees the engine itself.

A campaign does not call an adapter directly: `adapters.subprocess_engine` serves it in a process of its own, over the
protocol of `codec.protocol`, which adapters in other languages speak themselves.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Protocol

from attrs import evolve, field, frozen

from conformance.case import FAILURES, Case, Crash, Failure, Kill
from conformance.observation import EngineInfo, EpochsBy, Observations, Snapshots
from conformance.programs import PROGRAMS


def capability_names(failure: Failure) -> Iterator[str]:
    """
    List the capabilities that cover a failure, from the widest to the narrowest.

    A kill of a worker in its snapshot phase is covered by `kill`, `kill:worker` and `kill:worker:snapshot`; other
    failures have one name, their kind.
    """
    yield failure.kind
    if isinstance(failure, Kill):
        yield f"kill:{failure.target}"
        yield f"kill:{failure.target}:{failure.effective_phase}"


def _set(names: Iterable[str]) -> frozenset[str]:
    return frozenset(names)


@frozen
class Capabilities:
    """The failures, programs and sizes that an engine supports. The default is everything."""

    failures: frozenset[str] = field(default=frozenset(FAILURES), converter=_set)
    programs: frozenset[str] = field(default=frozenset(PROGRAMS), converter=_set)
    holds: bool = True
    most_tasks: int | None = None
    most_events: int | None = None
    branches: bool = False
    """Whether keyed sums are spread over subtasks, so that cases have a branch for each key (see `branches`)."""

    def can_inject(self, failure: Failure) -> bool:
        """Say whether the engine's adapter can make this failure happen."""
        return any(name in self.failures for name in capability_names(failure))

    def unsupported(self, case: Case) -> tuple[str, ...]:
        """List what this engine does not support of a case, in words; nothing, if it can run the case."""
        wanted = {task.program.op for task in case.graph.tasks} - self.programs
        beyond = [f"program {op}" for op in sorted(wanted)]
        beyond += [f"failure {' '.join(_words(f))}" for f in case.failures if not self.can_inject(f)]
        if case.holds and not self.holds:
            beyond.append("holds")
        if self.most_tasks is not None and len(case.graph.tasks) > self.most_tasks:
            beyond.append(f"{len(case.graph.tasks)} tasks, at most {self.most_tasks}")
        largest = max(len(events) for epochs in case.inputs.values() for events in epochs)
        if self.most_events is not None and largest > self.most_events:
            beyond.append(f"{largest} events in an epoch, at most {self.most_events}")
        return tuple(dict.fromkeys(beyond))

    def common(self, other: "Capabilities") -> "Capabilities":
        """
        Return what both support.

        A wide name covers a narrow one: `kill` and `kill:worker` have the latter in common.
        """
        return Capabilities(
            failures=frozenset(
                narrow
                for one, two in ((self.failures, other.failures), (other.failures, self.failures))
                for narrow in one
                if any(narrow == wide or narrow.startswith(f"{wide}:") for wide in two)
            ),
            programs=self.programs & other.programs,
            holds=self.holds and other.holds,
            most_tasks=_least(self.most_tasks, other.most_tasks),
            most_events=_least(self.most_events, other.most_events),
            branches=self.branches or other.branches,
        )


def _words(failure: Failure) -> Iterator[str]:
    yield failure.kind
    if isinstance(failure, Kill):
        yield from (failure.target, f"in {failure.effective_phase}")
    elif isinstance(failure, Crash):
        yield failure.task


def _least(one: int | None, other: int | None) -> int | None:
    bounds = [bound for bound in (one, other) if bound is not None]
    return min(bounds, default=None)


EVERYTHING = Capabilities()


@frozen
class RunRequest:
    """
    One case to run.

    It names the streams to observe (default: all), a deadline in seconds, and a seed for the adapter's own choices. The
    seed is the same for all cases of a campaign; an adapter mixes it with the case's digest.
    """

    case: Case
    streams: frozenset[str] = field()
    seconds: float = 60.0
    seed: int = 0
    id: int = field(factory=count().__next__, eq=False, repr=False)
    """Identifies the request among those of one `run`; a copy made by `evolve` keeps it."""

    @streams.default
    def _all(self) -> frozenset[str]:
        return frozenset(self.case.graph.streams)


def batch_seconds(seconds: float, cases: int) -> float:
    """Return the deadline of cases that run at once and have this deadline each: every further case adds a tenth."""
    return seconds * (1 + (cases - 1) / 10)


@frozen
class Description:
    """The engine's identity, its capabilities, and how it says it works."""

    info: EngineInfo
    capabilities: Capabilities = EVERYTHING
    epochs: EpochsBy = "given"
    atomic: bool = True
    snapshots: Snapshots = "aligned"
    batch: int = 1
    """Number of cases that `run` should be given at once."""

    @property
    def claims(self) -> tuple[object, ...]:
        """How the engine says it works; its observations have to say the same."""
        return (self.epochs, self.atomic, self.snapshots)

    def with_required_streams(self, request: RunRequest) -> RunRequest:
        """
        Add the sources to the observed streams if the engine places its own borders.

        Only sources show where these borders are.
        """
        return (
            evolve(request, streams=request.streams | set(request.case.graph.sources))
            if self.epochs == "own"
            else request
        )


class Engine(Protocol):
    """
    An engine under test.

    The smallest one:

        class MyEngine:
            def __init__(self, settings): ...
            def start(self):
                return Description(EngineInfo("mine", "1.0"), Capabilities(failures=["crash"], holds=False))
            def run(self, requests):
                for request in requests:
                    yield Observations(digest(request.case), ...)
            def stop(self): ...

    All of it, with crashes and recovery, is in examples/my_engine.py and fits on a screen. On the command line it is
    `python:my_engine:MyEngine`; a package gives it a name by an entry point of the group `conformance.engines`:

        [project.entry-points."conformance.engines"]
        mine = "my_engine:MyEngine"
    """

    def start(self) -> Description:
        """Get ready, once. Raise `EngineUnavailable`, with what would help, where that is impossible."""
        ...

    def run(self, requests: Sequence[RunRequest]) -> Iterator[Observations]:
        """
        Run cases, all at once or one after the other, and yield the observations of each, in their order.

        The requests have been through `Description.with_required_streams`. A run that failed is yielded, too, as
        observations whose `end` is "error"; an exception counts as the error of the next case, and the cases behind it
        are requested again.
        """
        ...

    def stop(self) -> None:
        """Stop everything that was started, also if `start` or `run` failed."""
        ...
