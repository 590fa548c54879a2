"""`conformance compare`: the observations of two engines for one case."""

import json
from pathlib import Path

import click

from conformance.campaign.differential import first_difference
from conformance.cli.options import FILE, as_json, seconds
from conformance.cli.say import say
from conformance.cli.verdicts import INCONCLUSIVE, VIOLATES, show
from conformance.codec import read_case, read_observations
from conformance.judge import Budget, Inconclusive, Violates, judge


@click.command()
@click.argument("case", type=FILE)
@click.argument("one", type=FILE)
@click.argument("other", type=FILE)
@seconds
@as_json
def compare(case: Path, one: Path, other: Path, seconds: float, as_json: bool) -> int:
    """
    Compare the observations of two engines for CASE.

    They are equal; compatible, if different interleavings explain both; or differing, if one of them is not explained
    (exit 1).
    """
    read = read_case(case)
    seen = [read_observations(file, read) for file in (one, other)]
    verdicts = [judge(read, each, Budget.of_seconds(seconds)) for each in seen]
    place = first_difference(*seen)
    if any(isinstance(verdict, Violates) for verdict in verdicts):
        answer, code = "differing", VIOLATES
    elif any(isinstance(verdict, Inconclusive) for verdict in verdicts):
        answer, code = "inconclusive", INCONCLUSIVE
    else:
        answer, code = ("compatible" if place else "equal"), 0
    if as_json:
        click.echo(json.dumps({"comparison": answer, "first": place}))
        return code
    say(answer + (f", first in epoch {place['epoch']} of `{place['stream']}`" if place else ""))
    for file, verdict in zip((one, other), verdicts, strict=True):
        if isinstance(verdict, Violates | Inconclusive):
            say(f"{file}:")
            show(verdict)
    return code
