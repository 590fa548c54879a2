"""`conformance generate`: the cases of a seed, as files or as statistics."""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import click
from attrs import evolve

from conformance.case import Case
from conformance.cli.folders import make_new
from conformance.cli.options import as_json
from conformance.cli.periodic_progress import PeriodicProgress
from conformance.codec import digest, write_case
from conformance.generators import DEEP, DEFAULT, SITUATIONS, Numbered, cases, situations


@click.command()
@click.option(
    "--cases", "number", type=click.IntRange(min=1), default=100, show_default=True, help="The number of cases."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The same seed, the same cases.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write the cases to this new or empty folder, one file each."
)
@click.option("--stats", is_flag=True, help="Print how often each situation occurred.")
@click.option("--deep", is_flag=True, help="Larger graphs, more and larger epochs.")
@as_json
def generate(number: int, seed: int, out: Path | None, stats: bool, deep: bool, as_json: bool) -> None:
    """Generate distinct cases, the same for the same seed on every machine."""
    if out is None and not stats:
        raise click.UsageError(
            "Give a folder to write the cases to (--out DIR), or ask for their statistics (--stats)."
        )
    if out is not None:
        make_new(out)
    reached: Counter[str] = Counter()
    progress = PeriodicProgress()
    for index, case in enumerate(_cases(number, seed, deep=deep)):
        progress.report(f"{index} of {number} cases")
        reached.update(situations(case))
        if out is not None:
            file = out / f"{index:05}-{digest(case)[:12]}.json"
            write_case(file, case)
            if as_json:
                click.echo(json.dumps({"file": str(file), "digest": digest(case)}))
    if stats:
        _print(reached, number, as_json=as_json)


def _cases(number: int, seed: int, *, deep: bool) -> Iterator[Case]:
    numbered = Numbered(cases(size=DEEP if deep else DEFAULT), seed=seed)
    for index, case in islice(numbered.distinct(), number):
        yield evolve(case, name=f"generated {index} of seed {seed}")


def _print(reached: Counter[str], number: int, *, as_json: bool) -> None:
    for name in SITUATIONS:
        if as_json:
            click.echo(json.dumps({"situation": name, "cases": reached[name], "of": number}))
        else:
            click.echo(f"{100 * reached[name] / number:5.1f} %  {name}")
