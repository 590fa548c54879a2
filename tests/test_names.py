"""Guards on naming and prose: one class a name, short modules, short lines of Markdown, and no riddles."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PRODUCT = ("conformance", "adapters", "generators", "reports")

MOST_LINES = 400
LONGEST_LINE = 120

RIDDLE = re.compile(r"\b(?:who|no|some)(?:ever|body)\b", re.IGNORECASE)
"""Words that hide a noun. (Put together, so that this file does not contain them.)"""

ADDRESS = re.compile(r"\]\([^)]*\)")
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
QUOTATION = re.compile(r'"[^"\n]*"|“[^”]*”|`[^`\n]*`|^>.*$', re.MULTILINE)


def files(*suffixes: str, folders: tuple[str, ...] = ("",)) -> Iterator[Path]:
    """Find the files of these folders, through no link and in nothing that is built or hidden."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            parts = path.relative_to(ROOT).parts
            is_ours = not any(part.startswith(".") or part in {"build", "dist", "__pycache__"} for part in parts)
            is_link = any((ROOT / Path(*parts[:n])).is_symlink() for n in range(1, len(parts) + 1))
            if path.suffix in suffixes and is_ours and not is_link:
                yield path


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def types(tree: ast.Module) -> Iterator[str]:
    """Find the classes and type aliases that a module defines."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias")):
                yield name


def test_no_class_or_type_alias_is_defined_twice():
    defined = Counter(
        each for path in files(".py", folders=PRODUCT) for each in types(ast.parse(path.read_text(encoding="utf-8")))
    )
    assert [each for each, times in defined.items() if times > 1] == []


def test_no_module_has_more_than_400_lines():
    long = [name(path) for path in files(".py") if len(path.read_text(encoding="utf-8").splitlines()) > MOST_LINES]
    assert long == []


def test_markdown_lines_have_at_most_120_characters():
    """Rows of tables, addresses of links and blocks of code are exempt: they cannot be broken."""
    long = {
        name(path)
        for path in files(".md")
        for line in ADDRESS.sub("]", CODE.sub("", path.read_text(encoding="utf-8"))).splitlines()
        if len(line) > LONGEST_LINE and not line.startswith("|")
    }
    assert long == set()


def test_no_riddle_words_outside_quotations():
    riddles = set()
    for path in files(".py", ".md", ".html", ".js", ".java", ".rs", ".go"):
        text = path.read_text(encoding="utf-8")
        if RIDDLE.search(QUOTATION.sub("", text) if path.suffix == ".md" else text):
            riddles.add(name(path))
    assert riddles == set()
