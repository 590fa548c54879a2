"""`conformance kit`: a starting point for an adapter, in one of several languages."""

import shlex
from importlib.resources import as_file, files
from pathlib import Path
from shutil import copyfile

import click

from conformance.cli.folders import make_new
from conformance.cli.options import FILE
from conformance.cli.say import say

COMMANDS = {
    "python": "python3 adapter.py",
    "java": "java Adapter.java",
    "javascript": "node adapter.js",
    "rust": "cargo run --quiet --release",
    "go": "go run .",
}
"""The command that runs the adapter of each language, in its folder."""


@click.command()
@click.argument("folder", type=FILE, metavar="DIR")
@click.option("--language", type=click.Choice(list(COMMANDS)), required=True, help="The language of the adapter.")
def kit(folder: Path, language: str) -> None:
    """
    Write a starting point for an adapter to DIR, a new or empty folder.

    It has the protocol, the ten programs, failures and recovery, and a trivial engine to replace with yours. It
    conforms already.
    """
    make_new(folder)
    with as_file(files("conformance.adapters") / "kit" / language) as template:
        for file in sorted(template.iterdir()):
            if file.is_file():  # no `target` or `__pycache__` of a kit that was run in a checkout
                copyfile(file, folder / file.name)
                say(str(folder / file.name))
    engine = f"stdio:{COMMANDS[language]}"
    there = shlex.quote(str(folder))
    say(f"It conforms already:\n  cd {there}\n  conformance smoke '{engine}'\n  conformance certify '{engine}'")
