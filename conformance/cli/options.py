"""Options that several commands share."""

from pathlib import Path

import click

FILE = click.Path(path_type=Path)

as_json = click.option("--json", "as_json", is_flag=True, help="JSON lines on stdout, nothing else there.")
