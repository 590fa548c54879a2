"""`conformance check`: judge recorded observations, no engine needed."""

import json
from pathlib import Path

import click

from conformance.cli.options import FILE, as_json, seconds
from conformance.cli.say import say
from conformance.cli.shown import exit_code, show
from conformance.codec import read_case, read_observations
from conformance.codec.verdicts import encode_verdict
from conformance.judge import Budget, Verdict, judge


@click.command()
@click.argument("case", type=FILE)
@click.argument("observations", type=FILE)
@click.option(
    "--on",
    "master",
    metavar="MASTER",
    help="Judge on Spark, which also reads datasets: local[N], local[*], local-cluster[n,c,mb] or spark://HOST:PORT. "
    "Then --seconds is for each task and epoch.",
)
@seconds
@as_json
def check(case: Path, observations: Path, master: str | None, seconds: float, as_json: bool) -> int:
    """Whether OBSERVATIONS of CASE are explained by a failure-free execution."""
    verdict = _here(case, observations, seconds) if master is None else _on(master, case, observations, seconds)
    if as_json:
        click.echo(json.dumps(encode_verdict(verdict)))
    else:
        show(verdict)
    return exit_code(verdict)


def _here(case: Path, observations: Path, seconds: float) -> Verdict:
    read = read_case(case)
    return judge(read, read_observations(observations, read), Budget(steps=10**12, seconds=seconds))


def _on(master: str, case: Path, observations: Path, seconds: float) -> Verdict:
    from conformance.pipeline import check as pipeline  # noqa: PLC0415 - it is not needed otherwise

    return pipeline.check(case, observations, master, seconds=seconds, tell=lambda what: say(what, err=True))
