"""Options that several commands share."""

from pathlib import Path

import click

FILE = click.Path(path_type=Path)

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON lines on stdout, and nothing else there.")

seconds = click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    help="The time limit for judging.",
)

on = click.option(
    "--on",
    metavar="MASTER",
    help="Run the model and the judge on Spark: local[N], local[*], local-cluster[n,c,mb] or spark://HOST:PORT.",
)

transcript = click.option(
    "--transcript",
    type=FILE,
    metavar="FILE",
    help="Write every line of the protocol, in both directions, to this new file.",
)
