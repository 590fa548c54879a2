"""Verdicts as text and as exit codes."""

from collections.abc import Sequence

from conformance.cli.say import say
from conformance.judge import Conforms, Inconclusive, Verdict, Violates

CONFORMS, VIOLATES, INCONCLUSIVE = 0, 1, 3
PRECEDENCE = (1, 70, 4, 2, 3, 0)
"""The order of exit codes, worst first: the worst of several engines counts."""


def exit_code(verdict: Verdict) -> int:
    """Return the exit code of a verdict."""
    match verdict:
        case Conforms():
            return CONFORMS
        case Violates():
            return VIOLATES
        case Inconclusive():
            return INCONCLUSIVE


def worst(codes: Sequence[int]) -> int:
    """Return the exit code for several engines: the worst of theirs."""
    return min(codes, key=PRECEDENCE.index, default=CONFORMS)


def show(verdict: Verdict) -> None:
    """Print a verdict."""
    match verdict:
        case Conforms(witness=None, epochs=epochs):
            say(f"conforms: {epochs} epochs, each explained by a failure-free execution and replayed")
        case Conforms(witness=witness, epochs=epochs):
            say(f"conforms: {epochs} epochs, explained by a failure-free execution of {len(witness or ())} steps")
        case Inconclusive(because=because):
            say(f"inconclusive: {because}")
        case Violates(guarantee=guarantee, findings=findings):
            say(f"violates; the strongest guarantee left is {guarantee}")
            for finding in findings:
                say(f"  {finding.diagnosis}: {finding.because}")
