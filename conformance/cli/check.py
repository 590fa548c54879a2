"""`conformance check`: judge recorded observations, without an engine."""

import json
from pathlib import Path

import click

from conformance.cli.options import FILE, as_json, seconds
from conformance.cli.say import say
from conformance.cli.verdicts import exit_code, show
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
    "--seconds is then the limit for each task and epoch.",
)
@seconds
@as_json
def check(case: Path, observations: Path, master: str | None, seconds: float, as_json: bool) -> int:
    """Decide whether a failure-free execution of CASE explains OBSERVATIONS."""
    if master is None:
        verdict = _judge_here(case, observations, seconds)
    else:
        verdict = _judge_on(master, case, observations, seconds)
    if as_json:
        click.echo(json.dumps(encode_verdict(verdict)))
    else:
        show(verdict)
    return exit_code(verdict)


def _judge_here(case: Path, observations: Path, seconds: float) -> Verdict:
    read = read_case(case)
    return judge(read, read_observations(observations, read), Budget.of_seconds(seconds))


def _judge_on(master: str, case: Path, observations: Path, seconds: float) -> Verdict:
    from conformance.pipeline import check as pipeline  # noqa: PLC0415 - only needed here

    return pipeline.check(case, observations, master, seconds=seconds, tell=lambda message: say(message, err=True))
