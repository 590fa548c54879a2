"""`conformance report`: what a campaign found, to be looked at."""

from pathlib import Path

import click

from conformance.campaign.results import REPORTS
from conformance.cli.options import FILE
from conformance.cli.say import say
from conformance.reports.html import write_report

REPORT, HISTORY = REPORTS


@click.command()
@click.argument("folders", nargs=-1, required=True, type=FILE)
@click.option("--out", type=FILE, help="The HTML file; index.html in the folder, of several history.html in the last.")
def report(folders: tuple[Path, ...], out: Path | None) -> int:
    """
    Write the HTML report on the results in FOLDERS again: one file, which opens from the disk.

    Of several, oldest first, it is the report on the last, with verdicts and times from one to the next.
    """
    (*before, last) = folders
    place = out or last / (HISTORY if before else REPORT)
    write_report(last, place, before)
    say(f"report: {place}")
    return 0
