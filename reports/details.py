"""Every case: its graph, input and failures, and for each engine what was observed and what came of it."""

import shlex
from collections.abc import Iterator, Sequence

from attrs import frozen
from markupsafe import Markup

from conformance.campaign.counterexample import size
from conformance.campaign.events import Judged, Outcome
from conformance.case import Case, Epochs
from conformance.errors import ConformanceError
from conformance.observation import Observations
from reports.acts import Act
from reports.graph import graph
from reports.pictures import Picture, explained, log_of, nearest, pictures, witness
from reports.runs import Run
from reports.shown import events
from reports.times import Samples
from reports.words import failure_words

DRAWN = 1_200
"""Runs in a report, above which those that conform have no diagram: nobody looks at them all, and everybody waits."""

TOLD = 3_000
"""Runs in a report, above which those that conform have no details either, but for their files."""

MOST_LINES = 40


@frozen
class Output:
    """What a stream showed in the end, epoch by epoch."""

    stream: str
    epochs: tuple[str, ...]


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
        _ran(case, run, judged, samples[run.word], draw=runs_in_all <= DRAWN or outcome != "conforms", whole=whole)
        for (run, judged), outcome in zip(found, outcomes, strict=True)
    )
    folder = f"{runs[0].slug}/" if len(runs) > 1 else ""
    return Told(
        id=name,
        size=str(size(case)),
        file=f"{folder}cases/{name}.json",
        graph=graph(case) if whole else Markup(""),
        inputs=tuple(_output(source, case.inputs[source]) for source in case.graph.sources),
        failures=tuple(failure_words(failure) for failure in case.failures[:MOST_LINES]),
        holds=tuple(f"`{hold.task}` goes last in epoch {hold.epoch}" for hold in case.holds[:MOST_LINES]),
        runs=ran,
        kinds=" ".join(f"{each.slug}:{each.outcome.replace(' ', '-')}" for each in ran),
        whole=whole,
    )


def _ran(case: Case, run: Run, judged: Judged, samples: Samples, *, draw: bool, whole: bool) -> Ran:
    outcome = run.tally.outcome(judged)
    seen = _observations(run, judged.id)
    because = tuple(f"{each.diagnosis}: {each.because}" for each in judged.findings[:MOST_LINES]) or (judged.because,)
    drawn: tuple[Picture, ...] = ()
    if seen is not None:
        log = log_of(case, seen)
        samples.add(case, seen, log)
        if draw and seen.observations:
            drawn = _pictures(case, seen, log, outcome)
    return Ran(
        word=run.word,
        slug=run.slug,
        outcome=outcome,
        because=tuple(each for each in because if each),
        note="only its sinks were observed" if judged.sinks_only else "",
        seen=tuple(_story(case, seen)) if seen is not None and whole else (),
        outputs=tuple(_outputs(case, seen)) if seen is not None and whole else (),
        pictures=drawn,
        command=shlex.join(
            ["conformance", "run", f"cases/{judged.id}.json", run.word, *(["--sinks"] if judged.sinks_only else [])]
        ),
    )


def _pictures(case: Case, seen: Observations, log: Sequence[Act], outcome: Outcome) -> tuple[Picture, ...]:
    if outcome == "violates":
        return pictures(case, seen, nearest(case, seen), log, conforms=False)
    if outcome != "conforms":
        return pictures(case, seen, None, log, conforms=False)
    found = explained(case, seen)
    happened = pictures(case, seen, found, log, conforms=True)
    return (*happened, *witness(found)) if log else happened


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
                yield f"✕ {_at(fired.t)}{failure_words(case.failures[fired.failure])}"
        shown = sorted({len(epochs) for epochs in observation.streams.values()})
        now = max(shown, default=0)
        if (now != before or len(shown) > 1) and lines < MOST_LINES:
            lines += 1
            said = " to ".join(map(str, shown)) if shown != [0] else "none"
            yield f"▾ {_at(observation.t)}observation {index}: epochs shown: {said}"
        before = now
    for fired in seen.fired:
        if fired.before >= len(seen.observations) and fired.failure < len(case.failures):
            yield f"✕ {_at(fired.t)}{failure_words(case.failures[fired.failure])}"
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
    return Output(stream, tuple(map(events, epochs[:MOST_LINES])))
