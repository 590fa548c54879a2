"""`conformance mutants`: mutation tests of the suite itself."""

import json
from statistics import median

import attrs
import click

from conformance.campaign.sensitivity import Killed, Spared, mutant_trials
from conformance.cli.executors import run_all
from conformance.cli.options import as_json, on
from conformance.cli.periodic_progress import PeriodicProgress


@click.command()
@click.option(
    "--cases",
    "number",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="The largest number of cases for each mutant.",
)
@click.option(
    "--runs",
    type=click.IntRange(min=0),
    default=10_000,
    show_default=True,
    help="The number of runs of all correct engines.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--markdown", is_flag=True, help="Print a Markdown table.")
@on
@as_json
def mutants(number: int, runs: int, seed: int, markdown: bool, on: str | None, as_json: bool) -> int:
    """Run every broken engine until it is convicted, and every correct one to check that it is not accused."""
    found = []
    progress = PeriodicProgress()
    trials = mutant_trials(number=number, runs=runs, seed=seed)
    for index, result in enumerate(run_all(trials, on), start=1):
        found.append(result)
        if as_json:
            click.echo(json.dumps(attrs.asdict(result)))
        elif not markdown:
            click.echo(_line(result))
        progress.report(f"{index} of {len(trials)} engines")
    killed = [result for result in found if isinstance(result, Killed)]
    spared = [result for result in found if isinstance(result, Spared)]
    if markdown:
        click.echo("\n".join(table(killed, spared)))
    elif not as_json:
        click.echo(summary(killed, spared))
    accused = any(result.accused for result in spared)
    return 1 if accused or any(result.cases is None for result in killed) else 0


def _line(result: Killed | Spared) -> str:
    if isinstance(result, Spared):
        return f"{result.mutant:32} {result.runs} runs, {result.accused} accused, {result.unknown} inconclusive"
    if result.cases is None:
        return f"{result.mutant:32} SURVIVED"
    return f"{result.mutant:32} killed by case {result.cases}: {result.diagnosis} ({result.guarantee})"


def summary(killed: list[Killed], spared: list[Spared]) -> str:
    """Summarize the results in one sentence."""
    needed = [result.cases for result in killed if result.cases is not None]
    middle = f", the median by case {median(needed):g}, the last by case {max(needed)}" if needed else ""
    runs, accused = sum(result.runs for result in spared), sum(result.accused for result in spared)
    unknown = sum(result.unknown for result in spared)
    return (
        f"{len(needed)} of {len(killed)} broken engines convicted{middle}; "
        f"{accused} accusations in {runs} runs of {len(spared)} correct ones ({unknown} inconclusive)."
    )


def table(killed: list[Killed], spared: list[Spared]) -> list[str]:
    """Return the results as Markdown tables."""
    rows = [
        summary(killed, spared),
        "",
        "| breaks | mutant | what it does | killed by case | diagnosis |",
        "|---|---|---|---|---|",
    ]
    rows += [
        f"| {each.group} | `{each.mutant}` | {each.about} | {each.cases or 'survived'} | {each.diagnosis} |"
        for each in killed
    ]
    rows += ["", "| correct but odd | what it does | runs | accused |", "|---|---|---|---|"]
    rows += [f"| `{each.mutant}` | {each.about} | {each.runs} | {each.accused} |" for each in spared]
    return rows
