"""`conformance model explore`: all interleavings of cases and all placements of failures, also on a cluster."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import attrs
import click

from conformance.case import Case
from conformance.cli.executors import run_all
from conformance.cli.options import FILE, as_json, on
from conformance.cli.periodic_progress import PeriodicProgress
from conformance.codec import read_case
from conformance.errors import OutOfBudget
from conformance.model.explore import Visitor
from conformance.model.explore import explore as search


@attrs.frozen
class Explored:
    """The figures of an exploration; `unknown` says why there are none."""

    states: int = 0
    transitions: int = 0
    outs: int = 0
    failure_free_outs: int = 0
    transparent: bool = False
    live: bool = False
    unknown: str = ""

    @property
    def code(self) -> int:
        """The exit code."""
        return OutOfBudget.exit_code if self.unknown else 0 if self.transparent and self.live else 1


@click.command()
@click.argument("cases", type=FILE, nargs=-1, required=True, metavar="CASE...")
@click.option(
    "--failures", type=click.IntRange(0, 8), default=1, show_default=True, help="The largest number of failures."
)
@click.option("--every-interleaving", is_flag=True, help="Explore without the partial-order reduction, to check it.")
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=1_000_000,
    show_default=True,
    help="The largest number of configurations.",
)
@on
@as_json
def explore(
    cases: tuple[Path, ...], failures: int, every_interleaving: bool, most: int, on: str | None, as_json: bool
) -> int:
    """
    Explore every interleaving of each CASE and every placement of up to K failures, instead of the case's own.

    Exit 0 if failures can never be seen and every execution commits every epoch, 3 if there are too many
    configurations to tell. With --on, cases are explored on a Spark cluster, many at once.
    """
    read = [read_case(file) for file in cases]
    visit = _StepCounter() if on is None else None
    calls = [partial(explored, case, failures, visit, reduced=not every_interleaving, most=most) for case in read]
    progress, codes = PeriodicProgress(), []
    for number, (file, found) in enumerate(zip(cases, run_all(calls, on), strict=True), start=1):
        codes.append(found.code)
        several = f"{file}: " if len(cases) > 1 else ""
        if found.unknown:
            click.echo(f"{several}{found.unknown}", err=True)
        elif as_json:
            named = {"case": str(file)} if several else {}
            click.echo(json.dumps(named | attrs.asdict(found, filter=lambda field, _: field.name != "unknown")))
        else:
            click.echo("\n".join(f"{several}{line}" for line in _lines(found, failures)))
        progress.report(f"{number} of {len(cases)} cases")
    return 1 if 1 in codes else max(codes)


def explored(case: Case, failures: int, visit: Visitor | None = None, *, reduced: bool, most: int) -> Explored:
    """Explore a case. An exceeded limit is returned as a value, so that it does not end the work on other cases."""
    try:
        found = search(case, failures, reduced=reduced, visit=visit, most=most)
    except OutOfBudget as why:
        return Explored(unknown=str(why))
    return Explored(
        found.states, found.transitions, len(found.outs), len(found.failure_free), found.transparent, found.live
    )


def _lines(found: Explored, failures: int) -> Iterator[str]:
    yield f"{found.states} configurations, {found.transitions} steps"
    yield f"{found.failure_free_outs} different outs without failures, {found.outs} with up to {failures}"
    yield "failures cannot be seen" if found.transparent else "FAILURES CAN BE SEEN"
    yield "every execution commits every epoch" if found.live else "SOME EXECUTION GETS STUCK"


class _StepCounter:
    """Counts the steps of an exploration, and reports progress after every thousand."""

    def __init__(self) -> None:
        self.steps = 0
        self.progress = PeriodicProgress()

    def __call__(self, *_: object) -> None:
        self.steps += 1
        if self.steps % 1000 == 0:
            self.progress.report(f"{self.steps} steps")
