"""`conformance run`: one saved case on engines, with verdicts."""

import json
from pathlib import Path

import click

from conformance.case import Case
from conformance.cli.options import FILE, as_json, seconds
from conformance.cli.shown import exit_code, show, worst
from conformance.codec import digest, encode_observations, encode_verdict, read_case, write_text
from conformance.engine import Engine, Job
from conformance.errors import ConformanceError, Unwritable
from conformance.judge import Budget, Inconclusive, Verdict, judge
from conformance.observation import Observations
from conformance.registry import engine


@click.command()
@click.argument("case", type=FILE)
@click.argument("engines", nargs=-1, required=True)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="For what an adapter chooses itself."
)
@click.option("--sinks", is_flag=True, help="Observe the sinks only.")
@click.option("--save", type=FILE, help="Write what was observed there, a file for each engine; a new or empty folder.")
@seconds
@as_json
def run(
    case: Path,
    engines: tuple[str, ...],
    seed: int,
    sinks: bool,
    save: Path | None,
    seconds: float,
    as_json: bool,
) -> int:
    """Run CASE on each of ENGINES and judge what it let us see."""
    read = read_case(case)
    named = [(word, engine(word)) for word in engines]
    if save is not None:
        save.mkdir(parents=True, exist_ok=True)
        if any(save.iterdir()):
            raise Unwritable(str(save), "there is something in it already", "Give a new folder, or empty this one.")
    streams = frozenset(read.graph.sinks if sinks else read.graph.streams)
    codes = []
    for index, (word, made) in enumerate(named):
        try:
            seen, beyond = _observe(made, Job(read, streams, seed=seed))
        except ConformanceError as error:
            click.echo(f"{word}: {type(error).__name__}: {error}", err=True)
            codes.append(error.exit_code)
            continue
        verdict = judge(read, seen, Budget(steps=10**12, seconds=seconds)) if seen else Inconclusive(beyond)
        if save is not None and seen is not None:
            write_text(save / f"{index}.json", json.dumps(encode_observations(seen)) + "\n")
        _tell(word, read, seen, verdict, as_json=as_json)
        codes.append(exit_code(verdict))
    return worst(codes)


def _observe(made: Engine, job: Job) -> tuple[Observations | None, str]:
    try:
        beyond = made.start().capabilities.unsupported(job.case)
        if beyond:
            return None, f"the engine does not support {', '.join(beyond)}"
        (seen,) = made.run([job])
        seen.fit(job.case, digest(job.case))
        return seen, ""
    finally:
        made.stop()


def _tell(word: str, case: Case, seen: Observations | None, verdict: Verdict, *, as_json: bool) -> None:
    fired = len(seen.fired) if seen else 0
    if as_json:
        line = {"engine": word, "fired": fired, "of": len(case.failures), **encode_verdict(verdict)}
        click.echo(json.dumps(line))
        return
    click.echo(f"{word}: {fired} of {len(case.failures)} failures fired")
    show(verdict)
