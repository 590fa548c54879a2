"""`conformance smoke`: check an adapter, and list its mistakes with the protocol lines."""

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
"""The number of characters of a protocol line that are printed. A transcript has all of them."""

LINES = 16
"""The number of protocol lines that are printed."""

EXIT = {"ok": 0, "violates": 1, "wrong": 4}


@click.command()
@click.argument("engine")
@transcript
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    help="The time limit for one case.",
)
@as_json
def smoke(engine: str, transcript: Path | None, seconds: float, as_json: bool) -> int:
    """
    Check ENGINE in everything that it claims to support, and list its mistakes with the protocol lines.

    This is for authors of adapters. It takes seconds; certify an adapter that passes all checks.
    """
    run = Smoke(engine, seconds=seconds, listener=Transcript(transcript) if transcript is not None else None)
    checks = []
    for check in run.checks():
        checks.append(check)
        if as_json:
            click.echo(json.dumps(_encode(check)))
            continue
        _print_check(check)
        if len(checks) == 1 and run.description is not None:
            say(f"          {_summary(run.description)}")
    wrong = [check for check in checks if check.standing != "ok"]
    if not as_json:
        say(_conclusion(engine, len(checks), wrong))
    return max((EXIT[check.standing] for check in checks), default=EngineUnavailable.exit_code)


def _conclusion(engine_name: str, number: int, wrong: list[Check]) -> str:
    if not wrong:
        return f"Nothing is wrong in {number} checks. Now certify it: conformance certify '{engine_name}'"
    kept = "" if any(check.standing == "wrong" for check in wrong) else " The protocol is kept."
    return f"{len(wrong)} of {number} checks are not as they should be.{kept}"


def _print_check(check: Check) -> None:
    say(f"{check.standing:8}  {check.name}")
    if check.standing != "ok":
        for said in check.said[-LINES:]:
            say(f"            {_cut(said)}")
        for line in check.because:
            say(f"          {line}")


def _cut(said: TranscriptLine) -> str:
    line = f"{said.direction} {said.line}"
    return line if len(line) <= WIDTH else f"{line[:WIDTH]}…"


def _summary(description: Description) -> str:
    can = description.capabilities
    commits = "all streams at once" if description.atomic else "streams one by one"
    return (
        f"{description.info.name} {description.info.version}: {description.epochs} epochs, commits {commits}, "
        f"{description.snapshots} snapshots; "
        f"failures: {', '.join(sorted(can.failures)) or 'none'}; {len(can.programs)} of 10 programs"
    )


def _encode(check: Check) -> dict[str, object]:
    said = [{"t": round(each.t, 3), "way": each.direction, "line": each.line} for each in check.said]
    return {"check": check.name, "standing": check.standing, "because": list(check.because), "said": said}
