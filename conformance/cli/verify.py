"""`conformance verify`: recompute a certificate from its folder."""

import json
from pathlib import Path

import click

from conformance.campaign.verify import read_certificate
from conformance.campaign.verify import verify as problems_of
from conformance.cli.options import FILE, as_json
from conformance.cli.say import say


@click.command()
@click.argument("certificate", type=FILE)
@as_json
def verify(certificate: Path, as_json: bool) -> int:
    """Recompute CERTIFICATE from its folder; name every file that is missing, altered or added."""
    said = read_certificate(certificate)
    problems = list(problems_of(certificate))
    if as_json:
        click.echo(json.dumps({"verified": not problems, "verdict": said.get("verdict"), "problems": problems}))
    else:
        for problem in problems:
            say(problem)
        if not problems:
            say(f"verified: {said['word']}, {said['verdict']}; {len(said['files'])} files are as they were")
    return 1 if problems else 0
