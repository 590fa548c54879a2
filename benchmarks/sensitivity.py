"""Write the table of `conformance mutants` into the README."""

import re
from pathlib import Path

from conformance.campaign.sensitivity import Killed, Spared, sensitivity
from conformance.cli.mutants import summary, table

README = Path(__file__).parents[1] / "README.md"


def main() -> None:
    """Run all mutants and write the table between its markers."""
    results = list(sensitivity(number=200, runs=10_000, seed=0))
    killed = [each for each in results if isinstance(each, Killed)]
    spared = [each for each in results if isinstance(each, Spared)]
    print(summary(killed, spared))
    new = "<!-- mutants -->\n" + "\n".join(table(killed, spared)) + "\n<!-- /mutants -->"
    text = README.read_text(encoding="utf-8")
    README.write_text(
        re.sub(r"<!-- mutants -->.*<!-- /mutants -->", lambda _: new, text, flags=re.DOTALL), encoding="utf-8"
    )
