"""`conformance report`: write the HTML report of a campaign."""

from pathlib import Path

import click

from conformance.campaign.results import REPORTS
from conformance.cli.options import FILE
from conformance.cli.say import say
from conformance.reports.html import write_report

REPORT, HISTORY = REPORTS


@click.command()
@click.argument("folders", nargs=-1, required=True, type=FILE)
@click.option(
    "--out",
    type=FILE,
    help="The HTML file; by default index.html in the folder or, for several, history.html in the last.",
)
def report(folders: tuple[Path, ...], out: Path | None) -> int:
    """
    Write the HTML report of the results in FOLDERS again, as one file that needs no server.

    For several folders, oldest first, it is the report of the last one, with the history of verdicts and times.
    """
    (*earlier, last) = folders
    file = out or last / (HISTORY if earlier else REPORT)
    write_report(last, file, earlier)
    say(f"report: {file}")
    return 0
