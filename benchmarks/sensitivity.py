"""Write the table of `conformance mutants` to docs/mutants.md."""

import re
from pathlib import Path
from textwrap import fill

from conformance.campaign.sensitivity import Killed, Spared, run_mutants
from conformance.cli.mutants import summary, table

PAGE = Path(__file__).parents[1] / "docs" / "mutants.md"
LINE = 120


def main() -> None:
    """Run every mutant and every correct engine, and write the table between its marks."""
    found = list(run_mutants(number=200, runs=10_000, seed=0))
    killed = [each for each in found if isinstance(each, Killed)]
    spared = [each for each in found if isinstance(each, Spared)]
    print(summary(killed, spared))
    lines = [line if line.startswith("|") else fill(line, LINE) for line in table(killed, spared)]
    new = "<!-- mutants -->\n" + "\n".join(lines) + "\n<!-- /mutants -->"
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(
        re.sub(r"<!-- mutants -->.*<!-- /mutants -->", lambda _: new, text, flags=re.DOTALL), encoding="utf-8"
    )
