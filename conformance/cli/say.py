"""To people: what an engine or a file made us say cannot move their cursor or colour their screen."""

import click

from conformance.errors import printable


def say(text: str, *, err: bool = False) -> None:
    """Print lines of text."""
    click.echo("\n".join(map(printable, text.split("\n"))), err=err)
