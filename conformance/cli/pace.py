"""Progress for what takes long: a word every few seconds, on stderr, and none for what is short."""

from time import monotonic

import click

EVERY = 2.0


class Pace:
    """Remembers when it last said something."""

    def __init__(self) -> None:
        self._due = monotonic() + EVERY

    def tell(self, how_far: str) -> None:
        """Say how far it is, if it is time to."""
        if monotonic() >= self._due:
            self._due = monotonic() + EVERY
            click.echo(f"{how_far} …", err=True)
