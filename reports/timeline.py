"""
What tasks did in a run, act by act: as the engine logged it, as the model does it, or as far as it can be inferred.

A log comes from an engine and may say anything. What is no act of the case is left out, and of a log that is too long
nothing is drawn.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

from attrs import frozen

from conformance.case import Case, Crash, Failure, Task
from conformance.model.configuration import Rule, Trace, initial
from conformance.model.snapshot import epoch_of, gce
from conformance.model.trace import configurations
from conformance.observation import Observations
from conformance.programs import Event

Do: TypeAlias = Literal["event", "border", "fail", "recover", "look"]

MOST = 600
"""Acts that a diagram can show and still be read."""


@frozen
class Act:
    """One thing that happened. A recovery is of all tasks, a look of none; both have no task."""

    do: Do
    task: str = ""
    epoch: int = 0
    stream: str = ""
    seq: int = 0
    value: Event | None = None
    sends: tuple[tuple[int, Event | None], ...] = ()


LOOK = Act("look")


def logged(case: Case, log: Sequence[Any]) -> tuple[Act, ...]:
    """What an engine logged, as far as it can be drawn; nothing, if it cannot."""
    if len(log) > MOST:
        return ()
    tasks = {task.name: task for task in case.graph.tasks}
    acts = tuple(act for entry in log if (act := _act(tasks, entry)) is not None)
    return acts if any(act.do in {"event", "border"} for act in acts) else ()


def _act(tasks: Mapping[str, Task], entry: Any) -> Act | None:
    if not isinstance(entry, Mapping):
        return None
    do, task = entry.get("do", "event"), entry.get("task", "")
    if do not in get_args(Do) or not isinstance(task, str):
        return None
    if do in {"recover", "look"}:
        return Act(do, epoch=_number(entry.get("epoch")))
    known = tasks.get(task)
    if known is None or (do == "event" and entry.get("stream") not in known.inputs):
        return None
    value = entry.get("value")
    return Act(
        do,
        task,
        _number(entry.get("epoch")),
        entry["stream"] if do == "event" else "",
        _number(entry.get("seq")),
        value if _is_event(value) else None,
        tuple(_sends(entry.get("sends"))),
    )


def _sends(value: Any) -> Iterator[tuple[int, Event | None]]:
    for each in value if isinstance(value, list | tuple) else ():
        match each:
            case [int(number), event] if event is None or _is_event(event):
                yield _number(number), event


def _is_event(value: Any) -> bool:
    return isinstance(value, str) or (type(value) is int and abs(value) < 2**63)


def _number(value: Any) -> int:
    return value if type(value) is int and 0 <= value < 2**31 else 0


def replayed(case: Case, trace: Trace) -> tuple[tuple[Act, ...], dict[int, int]]:
    """A failure-free trace as the model runs it, and after how many acts each epoch is committed."""
    acts: list[Act] = []
    commits = {0: 0}
    after = configurations(initial(case), trace)
    before = next(after)
    for step, now in zip(trace, after, strict=True):
        output = before.dataflow.processors[step.task].output
        sent = range(before.numbers[step.task][output], now.numbers[step.task][output])
        sends = tuple((n, now.messages[output][n][1]) for n in sent)
        seq, value = 0, None
        if step.rule is Rule.EVENT:
            seq = before.numbers[step.task][step.stream]
            value = before.messages[step.stream][seq][1]
        do: Do = "event" if step.rule is Rule.EVENT else "border"
        acts.append(Act(do, step.task, epoch_of(before, step.task), step.stream, seq, value, sends))
        if do == "border":
            commits.setdefault(gce(now), len(acts))
        before = now
    return tuple(acts), commits


def with_looks(acts: Sequence[Act], at: Iterable[int]) -> tuple[Act, ...]:
    """Acts, and between them the moments at which somebody looked: after how many acts, for each look."""
    looks = sorted(at)
    shown: list[Act] = []
    for index, act in enumerate(acts):
        shown += [LOOK] * looks.count(index)
        shown.append(act)
    return (*shown, *[LOOK] * sum(place >= len(acts) for place in looks))


def inferred(case: Case, seen: Observations, acts: Sequence[Act], commits: Mapping[int, int]) -> tuple[Act, ...]:
    """
    A failure-free execution with what is known besides: when somebody looked, and between which looks failures fired.

    Where in between they fired is not known, nor what was done in vain; so a failure stands before all that became
    visible after it, and nothing that was lost is drawn.
    """
    shown: list[Act] = []
    done = 0
    for index, observation in enumerate(seen.observations):
        epoch = max(map(len, observation.streams.values()), default=0)
        until = max(done, commits.get(epoch, done))
        for fired in seen.fired:
            if fired.before == index and fired.failure < len(case.failures):
                shown += _failed(case, case.failures[fired.failure])
        shown += acts[done:until]
        shown.append(LOOK)
        done = until
    for fired in seen.fired:
        if fired.before >= len(seen.observations) and fired.failure < len(case.failures):
            shown += _failed(case, case.failures[fired.failure])
    return (*shown, *acts[done:])


def _failed(case: Case, failure: Failure) -> list[Act]:
    struck = [failure.task] if isinstance(failure, Crash) else [task.name for task in case.graph.tasks]
    return [Act("fail", task, failure.epoch) for task in struck] + [Act("recover")]
