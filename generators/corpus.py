"""The corpus: hand-written cases, one for each shape of recovery bug. They run before the generated ones."""

from importlib.resources import as_file, files

from conformance.case import Case
from conformance.codec import read_case


def corpus() -> dict[str, Case]:
    """Read every case of the corpus, by the name of its file, in order. A case's own name says what it is for."""
    with as_file(files("conformance.generators") / "corpus") as folder:
        return {file.stem: read_case(file) for file in sorted(folder.glob("*.json"))}
