"""`conformance run`: one saved case on engines, with verdicts."""

import json
import re
from pathlib import Path

import click

from conformance.adapters.subprocess_engine import SubprocessEngine
from conformance.adapters.transcript import Transcript
from conformance.case import Case
from conformance.cli.folders import make_new
from conformance.cli.options import FILE, as_json, seconds, transcript
from conformance.cli.say import say
from conformance.cli.shown import exit_code, show, worst
from conformance.codec import digest, encode_observations, read_case, write_text
from conformance.codec.verdicts import encode_verdict
from conformance.engine import Engine, RunRequest
from conformance.errors import ConformanceError, EngineFailed, Malformed, Unsupported
from conformance.judge import Budget, Inconclusive, Verdict, judge
from conformance.observation import Observations


@click.command()
@click.argument("case", type=FILE)
@click.argument("engines", nargs=-1, required=True)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="For what an adapter chooses itself."
)
@click.option("--sinks", is_flag=True, help="Observe the sinks only.")
@click.option("--save", type=FILE, help="Write what was observed there, a file for each engine; a new or empty folder.")
@transcript
@seconds
@as_json
def run(
    case: Path,
    engines: tuple[str, ...],
    seed: int,
    sinks: bool,
    save: Path | None,
    transcript: Path | None,
    seconds: float,
    as_json: bool,
) -> int:
    """Run CASE on each of ENGINES and judge what it let us see."""
    read = read_case(case)
    listener = Transcript(transcript) if transcript is not None else None
    named = [(word, SubprocessEngine(word, listener=listener)) for word in engines]
    if save is not None:
        make_new(save)
    request = RunRequest(read, frozenset(read.graph.sinks if sinks else read.graph.streams), seed=seed)
    codes = []
    for index, (word, made) in enumerate(named):
        try:
            seen = observe(made, request)
            verdict = judge(read, seen, Budget(steps=10**12, seconds=seconds))
            if seen.end == "error" and isinstance(verdict, Inconclusive):
                raise EngineFailed(seen.message or "it ended in an error, and did not say which")
        except ConformanceError as error:
            _tell_failure(word, error, as_json=as_json)
            codes.append(error.exit_code)
            continue
        if save is not None:
            name = re.sub(r"[^a-z0-9]+", "-", word.lower())
            write_text(save / f"{index}-{name}.json", json.dumps(encode_observations(seen)) + "\n")
        _tell(word, read, seen, verdict, as_json=as_json)
        codes.append(exit_code(verdict))
    return worst(codes)


def observe(made: Engine, request: RunRequest) -> Observations:
    """Start an engine, run one case, stop it. An engine that ends in an error has failed us."""
    try:
        description = made.start()
        if beyond := description.capabilities.unsupported(request.case):
            raise Unsupported(f"it does not support {', '.join(beyond)}")
        (seen,) = made.run([description.suited(request)])
        try:
            seen.check_fit(request.case, digest(request.case))
        except Malformed as refused:
            raise EngineFailed(f"what it says it observed is refused: {refused}") from refused
        return seen
    finally:
        made.stop()


def _tell_failure(word: str, error: ConformanceError, *, as_json: bool) -> None:
    if as_json:
        line = {"engine": word, "verdict": "error", "because": f"{type(error).__name__}: {error}"}
        click.echo(json.dumps(line))
    say(f"{word}: {type(error).__name__}: {error}", err=True)


def _tell(word: str, case: Case, seen: Observations, verdict: Verdict, *, as_json: bool) -> None:
    if as_json:
        line = {"engine": word, "fired": len(seen.fired), "of": len(case.failures), **encode_verdict(verdict)}
        click.echo(json.dumps(line))
        return
    say(f"{word}: {len(seen.fired)} of {len(case.failures)} failures fired")
    show(verdict)
