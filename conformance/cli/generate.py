"""`conformance generate`: the cases of a seed, as files or as figures."""

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
from conformance.cli.pace import Pace
from conformance.codec import digest, write_case
from conformance.generators import DEEP, DEFAULT, SITUATIONS, Numbered, cases, situations


@click.command()
@click.option("--cases", "number", type=click.IntRange(min=1), default=100, show_default=True, help="How many.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The same seed, the same cases.")
@click.option("--out", type=click.Path(path_type=Path), help="Write them there, one file each; a new or empty folder.")
@click.option("--stats", is_flag=True, help="Say how often each situation occurred.")
@click.option("--deep", is_flag=True, help="Larger graphs, more and larger epochs.")
@as_json
def generate(number: int, seed: int, out: Path | None, stats: bool, deep: bool, as_json: bool) -> None:
    """Generate cases: different from each other, and the same for the same seed everywhere."""
    if out is None and not stats:
        raise click.UsageError("say where to write the cases (--out DIR), or ask how they are (--stats)")
    if out is not None:
        make_new(out)
    reached: Counter[str] = Counter()
    pace = Pace()
    for index, case in enumerate(_cases(number, seed, deep=deep)):
        pace.tell(f"{index} of {number} cases")
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
