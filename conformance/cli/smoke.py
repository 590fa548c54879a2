"""`conformance smoke`: an adapter, tried in one thing after the other, with what is wrong and what was said."""

import json
from pathlib import Path

import click

from conformance.adapters.transcript import Transcript, TranscriptLine
from conformance.campaign.smoke import Check, Smoke
from conformance.cli.options import as_json, transcript
from conformance.cli.say import say
from conformance.engine import Description
from conformance.errors import EngineUnavailable

WIDTH = 700
"""Characters of a line that was said, at the terminal. All of it is in a transcript."""

LINES = 16
"""So many of the last lines."""

EXIT = {"ok": 0, "violates": 1, "wrong": 4}


@click.command()
@click.argument("engine")
@transcript
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    help="For one case, at most.",
)
@as_json
def smoke(engine: str, transcript: Path | None, seconds: float, as_json: bool) -> int:
    """
    Try ENGINE in one thing after the other, and say what is wrong, line by line.

    For whoever writes an adapter. It takes seconds; when nothing is wrong any more, certify it.
    """
    run = Smoke(engine, seconds=seconds, listener=Transcript(transcript) if transcript is not None else None)
    checks = []
    for check in run.checks():
        checks.append(check)
        if as_json:
            click.echo(json.dumps(_encoded(check)))
            continue
        _tell(check)
        if len(checks) == 1 and run.description is not None:
            say(f"          {_described(run.description)}")
    wrong = [check for check in checks if check.standing != "ok"]
    if not as_json:
        say(_conclusion(engine, len(checks), wrong))
    return max((EXIT[check.standing] for check in checks), default=EngineUnavailable.exit_code)


def _conclusion(word: str, number: int, wrong: list[Check]) -> str:
    if not wrong:
        return f"Nothing is wrong in {number} checks. Now certify it: conformance certify '{word}'"
    kept = "" if any(check.standing == "wrong" for check in wrong) else " The protocol is kept."
    return f"{len(wrong)} of {number} checks are not as they should be.{kept}"


def _tell(check: Check) -> None:
    say(f"{check.standing:8}  {check.name}")
    if check.standing != "ok":
        for said in check.said[-LINES:]:
            say(f"            {_cut(said)}")
        for line in check.because:
            say(f"          {line}")


def _cut(said: TranscriptLine) -> str:
    line = f"{said.direction} {said.line}"
    return line if len(line) <= WIDTH else f"{line[:WIDTH]}…"


def _described(of: Description) -> str:
    can = of.capabilities
    commits = "all streams at once" if of.atomic else "streams one by one"
    return (
        f"{of.info.name} {of.info.version}: {of.epochs} epochs, commits {commits}, {of.snapshots} snapshots; "
        f"failures: {', '.join(sorted(can.failures)) or 'none'}; {len(can.programs)} of 10 programs"
    )


def _encoded(check: Check) -> dict[str, object]:
    said = [{"t": round(each.t, 3), "way": each.direction, "line": each.line} for each in check.said]
    return {"check": check.name, "standing": check.standing, "because": list(check.because), "said": said}
