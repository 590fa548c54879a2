"""
Timelines: what the tasks of a run did, in order.

A timeline comes from one of three places: the log of the engine, the model's replay of a failure-free trace, or an
inference that adds failures and observations to a replay. A log comes from an engine and may hold anything: entries
that do not fit the case are left out, and a log that is too long gives no timeline.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

from attrs import frozen

from conformance.case import Case, Crash, Failure, Task
from conformance.model.configuration import Rule, Trace, initial
from conformance.model.snapshot import gce
from conformance.model.trace import configurations, step_effect
from conformance.observation import Fired, Observations
from conformance.programs import Event

EntryKind: TypeAlias = Literal["event", "border", "fail", "recover", "look"]
"""What happened, as logs name it; "look" is an observation of the output."""

MAX_ENTRIES = 600
"""Entries that a diagram can show and still be read."""


@frozen
class TimelineEntry:
    """One step of a task, or a recovery of all tasks, or an observation; the latter two have no task."""

    kind: EntryKind
    task: str = ""
    epoch: int = 0
    stream: str = ""
    seq: int = 0
    value: Event | None = None
    sends: tuple[tuple[int, Event | None], ...] = ()


Timeline: TypeAlias = tuple[TimelineEntry, ...]

OBSERVATION = TimelineEntry("look")


def read_log(case: Case, log: Sequence[Any]) -> Timeline:
    """Return the entries of an engine's log that fit the case; none, if the log cannot be drawn."""
    if len(log) > MAX_ENTRIES:
        return ()
    tasks = {task.name: task for task in case.graph.tasks}
    entries = tuple(entry for logged in log if (entry := _read_entry(tasks, logged)) is not None)
    return entries if any(entry.kind in {"event", "border"} for entry in entries) else ()


def _read_entry(tasks: Mapping[str, Task], logged: Any) -> TimelineEntry | None:
    if not isinstance(logged, Mapping):
        return None
    kind, name = logged.get("do", "event"), logged.get("task", "")
    if kind not in get_args(EntryKind) or not isinstance(name, str):
        return None
    if kind in {"recover", "look"}:
        return TimelineEntry(kind, epoch=_read_number(logged.get("epoch")))
    task = tasks.get(name)
    if task is None or (kind == "event" and logged.get("stream") not in task.inputs):
        return None
    value = logged.get("value")
    return TimelineEntry(
        kind,
        name,
        _read_number(logged.get("epoch")),
        logged["stream"] if kind == "event" else "",
        _read_number(logged.get("seq")),
        value if _is_event(value) else None,
        tuple(_read_sends(logged.get("sends"))),
    )


def _read_sends(value: Any) -> Iterator[tuple[int, Event | None]]:
    for send in value if isinstance(value, list | tuple) else ():
        match send:
            case [int(number), event] if event is None or _is_event(event):
                yield _read_number(number), event


def _is_event(value: Any) -> bool:
    return isinstance(value, str) or (type(value) is int and abs(value) < 2**63)


def _read_number(value: Any) -> int:
    return value if type(value) is int and 0 <= value < 2**31 else 0


def replay(case: Case, trace: Trace) -> tuple[Timeline, dict[int, int]]:
    """Replay a failure-free trace in the model: its timeline, and after how many entries each epoch is committed."""
    entries: list[TimelineEntry] = []
    commits = {0: 0}
    following = configurations(initial(case), trace)
    before = next(following)
    for step, after in zip(trace, following, strict=True):
        kind: EntryKind = "event" if step.rule is Rule.EVENT else "border"
        effect = step_effect(before, step, after)
        entries.append(
            TimelineEntry(kind, step.task, effect.epoch, step.stream, effect.seq, effect.value, effect.sends)
        )
        if kind == "border":
            commits.setdefault(gce(after), len(entries))
        before = after
    return tuple(entries), commits


def add_observations(timeline: Timeline, positions: Iterable[int]) -> Timeline:
    """Insert observations into a timeline: for each, the number of entries before it."""
    positions = sorted(positions)
    entries: list[TimelineEntry] = []
    for index, entry in enumerate(timeline):
        entries += [OBSERVATION] * positions.count(index)
        entries.append(entry)
    return (*entries, *[OBSERVATION] * sum(position >= len(timeline) for position in positions))


def infer_timeline(case: Case, observed: Observations, timeline: Timeline, commits: Mapping[int, int]) -> Timeline:
    """
    Add observations and failures to the timeline of a failure-free execution.

    Between which observations a failure fired is known; where in between, and which work was lost, is not. So a failure
    stands before everything that became visible after it, and lost work is not drawn.
    """
    entries: list[TimelineEntry] = []
    done = 0
    for index, observation in enumerate(observed.observations):
        epoch = max(map(len, observation.streams.values()), default=0)
        until = max(done, commits.get(epoch, done))
        entries += _fail_and_recover(case, observed, index)
        entries += timeline[done:until]
        entries.append(OBSERVATION)
        done = until
    return (*entries, *_fail_and_recover(case, observed, len(observed.observations)), *timeline[done:])


def _fail_and_recover(case: Case, observed: Observations, index: int) -> Iterator[TimelineEntry]:
    for _, failure in failures_before(case, observed, index):
        failed = [failure.task] if isinstance(failure, Crash) else [task.name for task in case.graph.tasks]
        yield from (TimelineEntry("fail", task, failure.epoch) for task in failed)
        yield TimelineEntry("recover")


def failures_before(case: Case, observed: Observations, index: int) -> Iterator[tuple[Fired, Failure]]:
    """Yield the failures that fired between an observation and the one before it; at the end, after the last one."""
    for fired in observed.fired:
        if min(fired.before, len(observed.observations)) == index and fired.failure < len(case.failures):
            yield fired, case.failures[fired.failure]
