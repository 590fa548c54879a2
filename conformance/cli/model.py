"""`conformance model`: commands for the reference model."""

import json
from pathlib import Path
from typing import Any

import click

from conformance.cli.explore import explore
from conformance.cli.options import FILE, as_json
from conformance.codec import read, read_case
from conformance.codec.verdicts import decode_trace, encode_trace
from conformance.model.configuration import Configuration, initial
from conformance.model.construction import explain as construct
from conformance.model.execution import run as execute
from conformance.model.snapshot import gce, observed
from conformance.model.trace import configurations


@click.group()
def model() -> None:
    """Run the reference model: what a failure-transparent engine may do with a case, and what it may show."""


@model.command()
@click.argument("case", type=FILE)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The seed of the execution.")
@as_json
def run(case: Path, seed: int, as_json: bool) -> int:
    """Run one random execution of CASE with its failures; print trace, gce and out."""
    read_ = read_case(case)
    done = execute(read_, seed)
    missed = len(read_.failures) - done.fired
    if missed:
        click.echo(f"{missed} of {len(read_.failures)} failures did not fire: their point was never reached.", err=True)
    if as_json:
        result = {"trace": encode_trace(done.trace), "gce": gce(done.end), "out": observed(done.end)}
        _print_json(result)
        return 0
    for step in done.trace:
        click.echo(str(step))
    click.echo(f"gce {gce(done.end)}")
    _print_out(done.end)
    return 0


@model.command()
@click.argument("case", type=FILE)
@click.argument("trace", type=FILE)
@as_json
def replay(case: Path, trace: Path, as_json: bool) -> int:
    """Apply TRACE to CASE and print every configuration. A step that does not apply is named (exit 1)."""
    read_ = read_case(case)
    steps = read(trace, lambda value: decode_trace(value, read_.graph))
    for number, c in enumerate(configurations(initial(read_), steps)):
        step = steps[number - 1] if number else None
        if as_json:
            taken = encode_trace((step,))[0] if step else None
            line = {"step": number, "taken": taken, "gce": gce(c), "failed": list(c.failed), "out": observed(c)}
            _print_json(line)
        else:
            failed = f", failed: {', '.join(c.failed)}" if c.failed else ""
            click.echo(f"{number}: {step or 'start'}; gce {gce(c)}{failed}")
    if not as_json:
        _print_out(c)
    return 0


@model.command()
@click.argument("case", type=FILE)
@click.argument("trace", type=FILE)
@as_json
def explain(case: Path, trace: Path, as_json: bool) -> int:
    """Print the failure-free trace that explains TRACE, and which of its configurations explains which."""
    read_ = read_case(case)
    steps = read(trace, lambda value: decode_trace(value, read_.graph))
    explained = construct(initial(read_), steps)
    if as_json:
        _print_json({"trace": encode_trace(explained.trace), "mapping": list(explained.mapping)})
        return 0
    for number, step in enumerate(explained.trace, start=1):
        click.echo(f"{number}: {step}")
    for number, target in enumerate(explained.mapping):
        click.echo(f"configuration {number} is explained by {target}")
    return 0


model.add_command(explore)


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, ensure_ascii=True))


def _print_out(c: Configuration) -> None:
    for stream, epochs in observed(c).items():
        click.echo(f"out {stream}: {json.dumps(epochs)}")
