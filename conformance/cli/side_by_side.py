"""The comparison of several engines at the end of `conformance certify`."""

import json
from collections.abc import Mapping
from pathlib import Path

import attrs
import click

from conformance.campaign.differential import Disagreement, disagreements
from conformance.campaign.results import Results
from conformance.campaign.tally import Tally
from conformance.cli.say import say
from conformance.codec import write_text

COMPARISON = "comparison.json"
SHOWN = 5
"""The number of disagreements that are printed; the folder has all of them."""


def compare_engines(top: Path, engines: Mapping[str, tuple[Tally, Results]], *, as_json: bool) -> None:
    """Write the cases of which engines show different events to a file, and print those in which one is wrong."""
    found = list(disagreements(engines))
    encoded = [attrs.asdict(each) for each in found]
    write_text(top / COMPARISON, json.dumps({"engines": list(engines), "disagreements": encoded}, indent=2) + "\n")
    if as_json:
        for disagreement in encoded:
            click.echo(json.dumps({"event": "disagreement", **disagreement}))
        return
    differing = [each for each in found if each.comparison == "differing"]
    say(
        f"side by side: {len(found) - len(differing)} cases differ without a violation, {len(differing)} because an "
        f"engine is wrong; all of them: {top / COMPARISON}"
    )
    for each in differing[:SHOWN]:
        say("\n".join(_list_events(each)))


def _list_events(found: Disagreement) -> list[str]:
    width = max(map(len, found.shown))
    lines = [f"  {found.case}, epoch {found.epoch} of `{found.stream}`:"]
    for name, events in found.shown.items():
        seen = "not shown" if events is None else ", ".join(map(str, events)) or "nothing"
        lines.append(f"    {name:{width}}  {found.outcomes[name]:12}  {seen}")
    return lines
