"""Every case: its graph, input and failures, and for each engine what was observed and what came of it."""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress

from attrs import frozen
from markupsafe import Markup

from conformance.campaign.counterexample import size
from conformance.campaign.events import Judged, Outcome
from conformance.case import Case, Epochs
from conformance.errors import ConformanceError
from conformance.observation import Observations
from conformance.reports.graph import graph
from conformance.reports.labels import describe_failure, describe_hold
from conformance.reports.pictures import Picture, explained, log_of, nearest, pictures, witness
from conformance.reports.runs import Run
from conformance.reports.sanitize import format_events
from conformance.reports.timeline import Act
from conformance.reports.times import Samples

HOVERED = 450
"""Runs in a report, above which messages have no titles of their own, and those that conform one diagram each."""

DRAWN = 1_200
"""Runs in a report, above which those that conform have no diagram: nobody looks at them all, and everybody waits."""

TOLD = 3_000
"""Runs in a report, above which those that conform have no details either, but for their files."""

ALIKE = 60
"""Of many runs, those that violate and have a diagram: most of the rest show the same once more."""

MOST_LINES = 40


@frozen
class Output:
    """What a stream showed in the end, epoch by epoch."""

    stream: str
    epochs: tuple[str, ...]


@frozen
class Outputs:
    """What some engines showed alike."""

    words: str
    streams: tuple[Output, ...]


@frozen
class Ran:
    """A case on an engine."""

    word: str
    slug: str
    outcome: Outcome
    because: tuple[str, ...]
    note: str
    seen: tuple[str, ...]
    """What was observed, and what failed, in the order in which it happened."""
    outputs: tuple[Output, ...]
    pictures: tuple[Picture, ...]
    command: str


@frozen
class Told:
    """A case."""

    id: str
    size: str
    file: str
    graph: Markup
    inputs: tuple[Output, ...]
    failures: tuple[str, ...]
    holds: tuple[str, ...]
    runs: tuple[Ran, ...]
    outputs: tuple[Outputs, ...]
    """What was observed in the end, engines that agree together."""
    kinds: str
    """What it can be filtered by: its outcomes, each with its engine."""
    whole: bool = True


def told(name: str, case: Case, runs: Sequence[Run], samples: dict[str, Samples], runs_in_all: int) -> Told:
    """A case, and what came of it on each engine."""
    # An engine that was given up has not run them all.
    found = [(run, run.by_name[name]) for run in runs if name in run.by_name]
    outcomes = [run.tally.outcome(judged) for run, judged in found]
    whole = runs_in_all <= TOLD or any(outcome != "conforms" for outcome in outcomes)
    ran = tuple(
        _ran(case, run, judged, samples[run.word], _Room(runs_in_all, outcome, run.violating.get(name, 0)), whole=whole)
        for (run, judged), outcome in zip(found, outcomes, strict=True)
    )
    folder = f"{runs[0].slug}/" if len(runs) > 1 else ""
    return Told(
        id=name,
        size=str(size(case)),
        file=f"{folder}cases/{name}.json",
        graph=graph(case) if whole else Markup(""),
        inputs=tuple(_output(source, case.inputs[source]) for source in case.graph.sources),
        failures=tuple(describe_failure(failure) for failure in case.failures[:MOST_LINES]),
        holds=tuple(map(describe_hold, case.holds[:MOST_LINES])),
        runs=ran,
        outputs=_alike(ran),
        kinds=" ".join(f"{each.slug}:{each.outcome.replace(' ', '-')}" for each in ran),
        whole=whole,
    )


def _alike(ran: Sequence[Ran]) -> tuple[Outputs, ...]:
    found: dict[tuple[Output, ...], list[str]] = {}
    for each in ran:
        if each.outputs:
            found.setdefault(each.outputs, []).append(each.word)
    return tuple(Outputs(", ".join(words), streams) for streams, words in found.items())


@frozen
class _Room:
    """How much there is room for in a report of so many runs."""

    runs: int
    outcome: Outcome
    violating: int
    """The how manyeth that violates, if it does."""

    @property
    def draw(self) -> bool:
        return (self.runs <= DRAWN or self.outcome != "conforms") and (not self.brief or self.violating < ALIKE)

    @property
    def brief(self) -> bool:
        return self.runs > HOVERED


def _ran(case: Case, run: Run, judged: Judged, samples: Samples, room: _Room, *, whole: bool) -> Ran:
    outcome = run.tally.outcome(judged)
    seen = _observations(run, judged.id)
    because = tuple(f"{each.diagnosis}: {each.because}" for each in judged.findings[:MOST_LINES]) or (judged.because,)
    drawn: tuple[Picture, ...] = ()
    if seen is not None:
        log = log_of(case, seen)
        samples.add(case, seen, log)
        if room.draw and seen.observations:
            # What does not fit the case is not drawn; `verify` says what is wrong with it.
            with suppress(ConformanceError):
                seen.check_fit(case, judged.digest)
                drawn = _pictures(case, seen, log, room)
    return Ran(
        word=run.word,
        slug=run.slug,
        outcome=outcome,
        because=tuple(each for each in because if each),
        note="Only its sinks were observed." if judged.sinks_only else "",
        seen=_seen(case, seen, room) if seen is not None and whole else (),
        outputs=tuple(_outputs(case, seen)) if seen is not None and whole else (),
        pictures=drawn,
        command="" if room.brief and outcome == "conforms" else _command(run, judged),
    )


def _command(run: Run, judged: Judged) -> str:
    """What runs it again, from the folder that the report stands in."""
    sinks = ["--sinks"] if judged.sinks_only else []
    return shlex.join(["conformance", "run", f"cases/{judged.id}.json", run.word, *sinks])


def _seen(case: Case, seen: Observations, room: _Room) -> tuple[str, ...]:
    """What was observed over time: line by line or, where there are many runs, in one."""
    if not room.brief or room.outcome != "conforms":
        return tuple(_story(case, seen))
    looks = []
    for index, observation in enumerate(seen.observations[:MOST_LINES]):
        looks += ["✕" for fired in seen.fired if fired.before == index]
        looks.append(str(max(map(len, observation.streams.values()), default=0)))
    return (f"Epochs shown, look by look: {' '.join(looks)}",)


def _pictures(case: Case, seen: Observations, log: Sequence[Act], room: _Room) -> tuple[Picture, ...]:
    if room.outcome == "violates":
        return pictures(case, seen, nearest(case, seen), log, conforms=False, brief=room.brief)
    if room.outcome != "conforms":
        return pictures(case, seen, None, log, conforms=False, brief=room.brief)
    found = explained(case, seen)
    if log and room.brief:
        return witness(found, brief=True)
    happened = pictures(case, seen, found, log, conforms=True, brief=room.brief)
    return (*happened, *witness(found, brief=room.brief)) if log else happened


def _observations(run: Run, name: str) -> Observations | None:
    """What was observed; nothing, where the file was spoilt. (`verify` says so.)"""
    try:
        return run.results.observations(name)
    except ConformanceError:
        return None


def _story(case: Case, seen: Observations) -> Iterator[str]:
    """Observations that show something new, and failures, in their order."""
    before = -1
    lines = 0
    for index, observation in enumerate(seen.observations):
        for fired in seen.fired:
            if fired.before == index and fired.failure < len(case.failures):
                yield f"✕ {_at(fired.t)}{describe_failure(case.failures[fired.failure])}"
        shown = sorted({len(epochs) for epochs in observation.streams.values()})
        now = max(shown, default=0)
        if (now != before or len(shown) > 1) and lines < MOST_LINES:
            lines += 1
            said = " to ".join(map(str, shown)) if shown != [0] else "none"
            yield f"▾ {_at(observation.t)}observation {index}: epochs shown: {said}"
        before = now
    for fired in seen.fired:
        if fired.before >= len(seen.observations) and fired.failure < len(case.failures):
            yield f"✕ {_at(fired.t)}{describe_failure(case.failures[fired.failure])}"
    if seen.end != "completed":
        yield f"■ the run ended: {seen.end}{f', {seen.message}' if seen.message else ''}"


def _at(t: float | None) -> str:
    return f"{t:.2f} s, " if t is not None else ""


def _outputs(case: Case, seen: Observations) -> Iterator[Output]:
    last = seen.observations[-1].streams if seen.observations else {}
    for stream in case.graph.streams:
        if stream in last and stream not in case.graph.sources:
            yield _output(stream, last[stream])


def _output(stream: str, epochs: Epochs) -> Output:
    return Output(stream, tuple(map(format_events, epochs[:MOST_LINES])))
