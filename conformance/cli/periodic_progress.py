"""Progress of long commands: a line on stderr every few seconds, and none for short ones."""

from time import monotonic

import click

INTERVAL = 2.0
"""Seconds between two lines."""


class PeriodicProgress:
    """Prints progress at most once in an interval."""

    def __init__(self) -> None:
        self._due = monotonic() + INTERVAL

    def report(self, progress: str) -> None:
        """Print the progress, if the interval has passed."""
        if monotonic() >= self._due:
            self._due = monotonic() + INTERVAL
            click.echo(f"{progress} …", err=True)
