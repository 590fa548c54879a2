"""`conformance check`: judge recorded observations, no engine needed."""

import json
from pathlib import Path

import click

from conformance.cli.options import FILE, as_json, seconds
from conformance.cli.shown import exit_code, show
from conformance.codec import read_case, read_observations
from conformance.codec.verdicts import encode_verdict
from conformance.judge import Budget, judge


@click.command()
@click.argument("case", type=FILE)
@click.argument("observations", type=FILE)
@seconds
@as_json
def check(case: Path, observations: Path, seconds: float, as_json: bool) -> int:
    """Whether OBSERVATIONS of CASE are explained by a failure-free execution."""
    read = read_case(case)
    verdict = judge(read, read_observations(observations, read), Budget(steps=10**12, seconds=seconds))
    if as_json:
        click.echo(json.dumps(encode_verdict(verdict)))
    else:
        show(verdict)
    return exit_code(verdict)
