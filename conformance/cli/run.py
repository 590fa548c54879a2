"""`conformance run`: run a saved case on engines, and judge the runs."""

import json
from pathlib import Path

import click

from conformance.adapters.subprocess_engine import SubprocessEngine
from conformance.adapters.transcript import Transcript
from conformance.campaign.results import slug
from conformance.case import Case
from conformance.cli.folders import make_new
from conformance.cli.options import FILE, as_json, seconds, transcript
from conformance.cli.say import say
from conformance.cli.verdicts import exit_code, show, worst
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
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="The seed for choices that the adapter makes itself.",
)
@click.option("--sinks", is_flag=True, help="Observe only the sinks.")
@click.option("--save", type=FILE, help="Write the observations of each engine to this new or empty folder.")
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
    """Run CASE on each of ENGINES and judge the observations."""
    read = read_case(case)
    listener = Transcript(transcript) if transcript is not None else None
    named = [(engine_name, SubprocessEngine(engine_name, listener=listener)) for engine_name in engines]
    if save is not None:
        make_new(save)
    request = RunRequest(read, frozenset(read.graph.sinks if sinks else read.graph.streams), seed=seed)
    codes = []
    for index, (engine_name, made) in enumerate(named):
        try:
            seen = observe(made, request)
            verdict = judge(read, seen, Budget.of_seconds(seconds))
            if seen.end == "error" and isinstance(verdict, Inconclusive):
                raise EngineFailed(seen.message or "it ended in an error, and did not say which")
        except ConformanceError as error:
            _print_failure(engine_name, error, as_json=as_json)
            codes.append(error.exit_code)
            continue
        if save is not None:
            write_text(save / f"{index}-{slug(engine_name)}.json", json.dumps(encode_observations(seen)) + "\n")
        _print_verdict(engine_name, read, seen, verdict, as_json=as_json)
        codes.append(exit_code(verdict))
    return worst(codes)


def observe(made: Engine, request: RunRequest) -> Observations:
    """Start an engine, run one case, and stop the engine."""
    try:
        description = made.start()
        if unsupported := description.capabilities.unsupported(request.case):
            raise Unsupported(f"it does not support {', '.join(unsupported)}")
        (seen,) = made.run([description.with_required_streams(request)])
        try:
            seen.check_fit(request.case, digest(request.case))
        except Malformed as refused:
            raise EngineFailed(f"what it says it observed is refused: {refused}") from refused
        return seen
    finally:
        made.stop()


def _print_failure(engine_name: str, error: ConformanceError, *, as_json: bool) -> None:
    if as_json:
        line = {"engine": engine_name, "verdict": "error", "because": f"{type(error).__name__}: {error}"}
        click.echo(json.dumps(line))
    say(f"{engine_name}: {type(error).__name__}: {error}", err=True)


def _print_verdict(engine_name: str, case: Case, seen: Observations, verdict: Verdict, *, as_json: bool) -> None:
    if as_json:
        line = {"engine": engine_name, "fired": len(seen.fired), "of": len(case.failures), **encode_verdict(verdict)}
        click.echo(json.dumps(line))
        return
    say(f"{engine_name}: {len(seen.fired)} of {len(case.failures)} failures fired")
    show(verdict)
