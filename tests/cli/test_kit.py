"""`conformance kit`: what it writes is tried with the real runtime of its language, and certified."""

import json
import shutil
from contextlib import chdir
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.adapters.stdio import Stdio
from conformance.case import LONGEST_TEXT, Case, Crash, Graph, Restart, Task
from conformance.cli import main
from conformance.cli.kit import COMMANDS
from conformance.codec.protocol import START
from conformance.engine import RunRequest
from conformance.judge import Conforms, judge
from conformance.programs import (
    LARGEST,
    PROGRAMS,
    RESET,
    Average,
    Batch,
    Count,
    Digest,
    Distinct,
    Filter,
    KeyedSum,
    Map,
    P,
    Repeat,
    Sum,
)

pytestmark = pytest.mark.usefixtures("somewhere")


def language(name):
    runtime = COMMANDS[name].split()[0]
    there = shutil.which(runtime) is not None
    return pytest.param(name, marks=pytest.mark.skipif(not there, reason=f"{runtime} is not installed here"))


LANGUAGES = [language(name) for name in COMMANDS]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_kit_is_written_into_an_empty_folder_only(conformance, name):
    code, out, _ = conformance("kit", "here", "--language", name)
    assert code == 0
    assert {"readme", "adapter"} <= {path.stem.lower() for path in Path("here").iterdir()}
    assert f"conformance smoke 'stdio:{COMMANDS[name]}'" in out
    assert f"conformance certify 'stdio:{COMMANDS[name]}'" in Path("here/README.md").read_text()
    before = {path: path.read_text() for path in Path("here").iterdir()}
    code, _, err = conformance("kit", "here", "--language", name)
    assert code == 2
    assert "the folder is not empty" in err
    assert {path: path.read_text() for path in Path("here").iterdir()} == before


def test_an_unknown_language_is_exit_2(conformance):
    code, _, err = conformance("kit", "here", "--language", "cobol")
    assert code == 2
    assert ", ".join(map(repr, COMMANDS)) in err
    assert not Path("here").exists()


def test_build_output_in_a_checkout_is_not_copied(conformance, monkeypatch, tmp_path):
    template = tmp_path / "adapters" / "kit" / "rust"
    (template / "target" / "release").mkdir(parents=True)
    (template / "adapter.rs").touch()
    monkeypatch.setattr("conformance.cli.kit.files", lambda _: tmp_path / "adapters")
    assert conformance("kit", "here", "--language", "rust")[0] == 0
    assert [path.name for path in Path("here").rglob("*")] == ["adapter.rs"]


@pytest.fixture(scope="module")
def start_kit(tmp_path_factory):
    """Starts the adapter of a language; its kit is written, and built, once."""

    @cache
    def write(name):
        folder = tmp_path_factory.mktemp(name)
        with pytest.raises(SystemExit):
            main(["kit", str(folder), "--language", name])
        return folder

    started = []

    def start(name, greeting=START):
        engine = Stdio([COMMANDS[name]])
        started.append(engine)
        with chdir(write(name)):
            engine.start(greeting)
        return engine

    yield start
    for engine in started:
        engine.stop()


@pytest.fixture(scope="module")
def kits(start_kit):
    """Starts the adapter of a language, once."""
    return cache(start_kit)


@pytest.mark.campaign
@pytest.mark.parametrize("name", LANGUAGES)
def test_a_kit_ignores_fields_that_it_does_not_know(start_kit, name):
    anything = {"is": [None, True, False, -1, 2.5, 1e300, "", '\\ " / \b\f\n\r\t\0 ä \u2028 \U0001f600', [], {}]}
    engine = start_kit(name, {**START, "new": anything, "": anything})
    (seen,) = engine.run([RunRequest(Case(Graph(("in",), (Task("task", ("in",), "out", Sum()),)), {"in": ((1, 2),)}))])
    assert seen.observations[-1].streams["out"] == ((1, 3),)


large = st.integers(1, LARGEST) | st.integers(1, 5)
programs = st.one_of(
    st.builds(Map, st.integers(0, 2**20), st.integers(0, 2**20)),
    large.flatmap(lambda mod: st.builds(Filter, st.just(mod), st.integers(0, mod - 1))),
    st.builds(Repeat, st.integers(0, 8)),
    st.sampled_from([Sum(), Count(), Digest(), Distinct(), Average()]),
    st.builds(Batch, large),
    st.builds(KeyedSum, large),
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=LONGEST_TEXT)
events = st.one_of(st.integers(0, P - 1), st.integers(0, 5), st.just(RESET), texts)
epochs = st.lists(st.lists(events, max_size=8).map(tuple), min_size=1, max_size=4).map(tuple)


def folded(program, epochs):
    """What our own programs make of it."""
    state, out = program.initial, []
    for events in epochs:
        emitted = []
        for event in events:
            state, more = program(state, event)
            emitted += more
        out.append(tuple(emitted))
    return tuple(out)


@pytest.mark.campaign
@pytest.mark.parametrize("name", LANGUAGES)
@settings(suppress_health_check=[*HealthCheck], deadline=None)
@given(data=st.data())
def test_the_kits_programs_equal_ours_after_crashes_and_restarts(kits, name, data):
    program, given_epochs = data.draw(programs), data.draw(epochs)
    last = len(given_epochs)
    crash = st.builds(Crash, st.just("task"), st.integers(1, last), st.integers(0, 3) | st.just("border"))
    failures = data.draw(st.lists(crash | st.builds(Restart, st.integers(1, last)), max_size=3))
    failures.sort(key=lambda failure: (failure.epoch, isinstance(failure, Restart)))
    case = Case(Graph(("in",), (Task("task", ("in",), "out", program),)), {"in": given_epochs}, tuple(failures))
    (seen,) = kits(name).run([RunRequest(case)])
    assert seen.observations[-1].streams["out"] == folded(program, given_epochs)
    assert [fired.failure for fired in seen.fired] == list(range(len(failures)))
    assert isinstance(judge(case, seen), Conforms)


@pytest.mark.campaign
@pytest.mark.parametrize("name", LANGUAGES)
def test_a_kit_is_certified_with_all_failures_it_claims(conformance, name):
    assert conformance("kit", ".", "--language", name)[0] == 0
    word = f"stdio:{COMMANDS[name]}"
    assert conformance("smoke", word)[0] == 0
    assert conformance("certify", word, "--cases", 40, "--out", "results")[0] == 0
    certificate = json.loads(Path("results/certificate.json").read_text())
    assert certificate["verdict"] == "conforms"
    assert set(certificate["supports"]["programs"]) == set(PROGRAMS)
    counts = certificate["cases"]
    assert counts["conforms"] + counts["unsupported"] == counts["planned"]
    events = [json.loads(line) for line in Path("results/journal.jsonl").read_text().splitlines()]
    assert sum(event["event"] == "judged" and event["fired"] > 0 for event in events) > 30
    assert certificate["sensitivity"]["killed"] > 50
    assert conformance("verify", "results/certificate.json")[0] == 0
