"""The documents: links that lead somewhere, commands that exist, examples that are real."""

import ast
import json
import re
import tomllib
from importlib import import_module
from pathlib import Path

import click
import pytest

from conformance.adapters.mutants import MUTANTS, ODD
from conformance.cli import cli, main
from conformance.codec import decode_case, read_case
from conformance.errors import install_hint

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
SOURCES = ("conformance", "adapters", "generators", "reports", "tests", "benchmarks")
KITS = sorted((ROOT / "adapters" / "kit").rglob("*.md"))

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$", re.MULTILINE)
COMMAND = re.compile(r"(?:^\$ |`)(?:\S*/)?conformance ((?:[a-z]+[a-z-]*)(?: [^`\n]*)?)", re.MULTILINE)
SESSION = re.compile(r"^\$ conformance ((?:run|model) .*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
TEXTS = {".py", ".md", ".yml", ".toml", ".ini", ".sh", ".java", ".js", ".html", ""}
SUITE = "dataflow-conformance"
BY_NAME = re.compile(rf"{SUITE}\[|\bpip3? install\b[^\n`]*(?<![\w./-]){SUITE}\b")
"""The suite as a package index would know it: with an extra, or after `pip install` and not as a path."""
SHORTENED = "…"

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def text_of(page):
    return page.read_text(encoding="utf-8")


def prose(page):
    """A page without its code blocks."""
    return BLOCK.sub("", text_of(page))


def blocks(page, language):
    return [code for found, code in BLOCK.findall(text_of(page)) if found == language]


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    found = []
    for heading in re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        found.append(f"{slug}-{found.count(slug)}" if slug in found else slug)
    return found


def pyproject():
    return tomllib.loads(text_of(ROOT / "pyproject.toml"))


@pytest.mark.parametrize("page", [*PAGES, *KITS], ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page):
    for target in (one or other for one, other in LINK.findall(prose(page))):
        if target.startswith(("https://", "http://")):
            continue
        file, _, anchor = target.partition("#")
        linked = (page.parent / file).resolve() if file else page
        assert linked.exists(), f"{target}: no such file"
        assert not anchor or anchor in anchors(linked), f"{target}: no such heading; there are {anchors(linked)}"


@each_page
def test_every_page_can_be_reached_from_the_readme(page):
    reached, ahead = set(), [ROOT / "README.md"]
    while ahead:
        one = ahead.pop()
        if one not in reached and one.suffix == ".md" and one.exists():
            reached.add(one)
            links = (first or second for first, second in LINK.findall(prose(one)))
            ahead += [(one.parent / link.partition("#")[0]).resolve() for link in links if "://" not in link]
    assert page.resolve() in reached


def test_the_readme_has_at_most_150_lines_and_a_page_250():
    lengths = {page.relative_to(ROOT).as_posix(): len(text_of(page).splitlines()) for page in PAGES}
    assert lengths["README.md"] <= 150
    assert {page: length for page, length in lengths.items() if length > 250} == {}


def test_sources_name_pages_that_exist():
    files = [file for folder in SOURCES for file in (ROOT / folder).rglob("*.py")]
    named = {(found, file.name) for file in files for found in re.findall(r"\bdocs/[\w/-]+\.md\b", text_of(file))}
    assert {(found, file) for found, file in named if not (ROOT / found).exists()} == set()


@each_page
def test_files_that_a_page_names_exist(page):
    named = set(re.findall(r"`((?:conformance|adapters|generators|reports|tests|examples)/[\w./-]+)`", text_of(page)))
    assert {file for file in named if not (ROOT / file).exists() and "NAME" not in file} == set()


def test_modules_in_the_architecture_exist():
    (tree,) = blocks(ROOT / "ARCHITECTURE.md", "")
    modules = {file.name for file in (ROOT / "conformance").rglob("*.py")}
    modules |= {file.name for folder in ("adapters", "generators", "reports") for file in (ROOT / folder).rglob("*.py")}
    assert set(re.findall(r"\b\w+\.py\b", tree)) <= modules


@each_page
def test_commands_and_their_options_exist(page):
    for line in COMMAND.findall(text_of(page)):
        command, *words = line.split()
        found = cli.get_command(click.Context(cli), command)
        assert found, f"conformance {line}: no such command"
        if isinstance(found, click.Group) and words:
            found = found.get_command(click.Context(found), words[0])
            assert found, f"conformance {line}: no such command"
        known = {option for parameter in found.params for option in parameter.opts} | {"--help"}
        asked = {word.strip("[].,:;") for word in words if word.strip("[].,:;").startswith("--")}
        assert asked <= known, f"conformance {line}: {asked - known}"


@each_page
def test_examples_in_python_import_what_exists(page):
    for code in blocks(page, "python"):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom):
                module = import_module(node.module)
                assert [name.name for name in node.names if not hasattr(module, name.name)] == []


@each_page
def test_cases_in_examples_are_accepted(page):
    for code in blocks(page, "json"):
        if '"conformance-case/1"' in code and SHORTENED not in code:
            assert decode_case(json.loads(code)).graph.tasks


def test_the_case_of_the_readme_is_the_one_it_links_to():
    (code,) = blocks(ROOT / "README.md", "json")
    assert decode_case(json.loads(code)) == read_case(ROOT / "examples" / "billed-twice.json")


def test_the_suite_is_installed_from_a_checkout_as_no_package_index_has_it():
    folders = (*SOURCES, "docs", "examples", "tools", ".github", ".ci")
    files = [*ROOT.glob("[!.]*"), *(file for folder in folders for file in (ROOT / folder).rglob("*"))]
    by_name = {
        file.relative_to(ROOT).as_posix()
        for file in files
        if file.is_file() and file.suffix in TEXTS and BY_NAME.search(text_of(file))
    }
    assert by_name == {"pyproject.toml"}, "where an extra refers to another extra"


@pytest.mark.parametrize(
    ("line", "by_name"),
    [
        (f"pip install '{SUITE}[flink]'", True),
        (f".venv/bin/pip install -q {SUITE}", True),
        (f"pip install ./{SUITE}", False),
        (install_hint("flink"), False),
    ],
)
def test_an_installation_by_name_is_told_from_one_by_path(line, by_name):
    assert bool(BY_NAME.search(line)) == by_name


def test_the_hints_in_get_started_are_real():
    shown = text_of(ROOT / "docs" / "get-started.md")
    assert [extra for extra in ("bytewax", "flink") if install_hint(extra) not in shown] == []


def sessions():
    """Every command line of a page that needs no engine and takes no time, with the output that the page shows."""
    for page in PAGES:
        for code in blocks(page, "console"):
            for typed, shown in SESSION.findall(code):
                if not re.search("bytewax|pathway|spark|flink|build/", typed):
                    yield pytest.param(typed, shown, id=f"{page.relative_to(ROOT)}: {typed}")


@pytest.mark.parametrize(("typed", "shown"), list(sessions()))
def test_output_in_examples_is_real(typed, shown, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    with pytest.raises(SystemExit):
        main(typed.split())
    pattern = ".*".join(re.escape(part) for part in shown.split(SHORTENED))
    assert re.fullmatch(pattern, capsys.readouterr().out, re.DOTALL)


def test_the_layers_of_the_architecture_are_those_of_the_contract():
    (table,) = re.findall(r"^\| layer \|.*\n(?:\|.*\n)+", text_of(ROOT / "ARCHITECTURE.md"), re.MULTILINE)
    layers = [set(re.findall(r"`([\w.]+)`", row.split("|")[2])) for row in table.splitlines()[2:]]
    (contract,) = (one for one in pyproject()["tool"]["importlinter"]["contracts"] if one["type"] == "layers")
    assert layers == [set(layer.split(" | ")) for layer in contract["layers"]]


def test_hypothesis_is_imported_where_the_architecture_says():
    users = {
        found.relative_to(ROOT / "conformance").parts[0]
        for found in (ROOT / "conformance").rglob("*.py")
        if re.search(r"^\s*(from|import) hypothesis\b", text_of(found), re.MULTILINE)
    }
    assert users <= {"generators", "campaign", "pipeline"}


def test_the_tests_that_the_paper_names_exist():
    tests = "".join(map(text_of, (ROOT / "tests").rglob("*.py")))
    named = re.findall(r"`((?:test|check)_\w+)(…?)`", text_of(ROOT / "docs" / "paper.md"))
    defined = [f"def {test}" + ("" if cut else "(") for test, cut in named]
    assert [test for test in defined if test not in tests] == []


def test_hooks_have_the_versions_of_the_linters():
    pinned = set(re.findall(r'"([\w-]+==[\w.]+)"', text_of(ROOT / ".pre-commit-config.yaml")))
    assert pinned == set(pyproject()["dependency-groups"]["lint"])


def test_the_documents_describe_and_count_the_mutants():
    text = text_of(ROOT / "docs" / "mutants.md")
    described = dict(re.findall(r"^\|(?: \w+ \|)? `([\w-]+)` \| ([^|]+) \|", text, re.MULTILINE))
    assert described == {name: " ".join(machine.__doc__.split()) for name, machine in (MUTANTS | ODD).items()}
    assert f"[{len(MUTANTS)} engines that are broken on purpose]" in text_of(ROOT / "README.md")
    assert f"{len(ODD)} odd but correct ones" in text_of(ROOT / "README.md")
