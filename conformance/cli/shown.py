"""How verdicts look at the terminal, and what they exit with."""

from collections.abc import Sequence

import click

from conformance.judge import Conforms, Inconclusive, Verdict, Violates

CONFORMS, VIOLATES, INCONCLUSIVE = 0, 1, 3
PRECEDENCE = (1, 70, 4, 2, 3, 0)
"""Of several engines, the worst comes first."""


def exit_code(verdict: Verdict) -> int:
    """The exit code of a verdict."""
    match verdict:
        case Conforms():
            return CONFORMS
        case Violates():
            return VIOLATES
        case Inconclusive():
            return INCONCLUSIVE


def worst(codes: Sequence[int]) -> int:
    """The exit code of several engines."""
    return min(codes, key=PRECEDENCE.index, default=CONFORMS)


def show(verdict: Verdict) -> None:
    """A verdict, for people."""
    match verdict:
        case Conforms(witness=witness, epochs=epochs):
            click.echo(f"conforms: {epochs} epochs, explained by a failure-free execution of {len(witness)} steps")
        case Inconclusive(because=because):
            click.echo(f"inconclusive: {because}")
        case Violates(guarantee=guarantee, findings=findings):
            click.echo(f"violates; the strongest guarantee left is {guarantee}")
            for finding in findings:
                click.echo(f"  {finding.diagnosis}: {finding.because}")
