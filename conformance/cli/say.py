"""Output for people, without control characters that an engine or a file may contain."""

import click

from conformance.errors import printable


def say(text: str, *, err: bool = False) -> None:
    """Print lines of text; characters that cannot be printed are escaped."""
    click.echo("\n".join(map(printable, text.split("\n"))), err=err)
