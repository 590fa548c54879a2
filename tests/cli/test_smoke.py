"""`conformance smoke`: what an adapter's author is told."""

import json
import shlex
import sys
from pathlib import Path

import pytest
from attrs import evolve

from conformance.adapters.reference import Reference
from conformance.campaign.smoke import judged
from conformance.campaign.smoke_cases import EACH, smoke_cases
from conformance.engine import EVERYTHING, Capabilities, RunRequest
from conformance.observation import Fired
from conformance.programs import PROGRAMS
from tests import miniatures

pytestmark = [pytest.mark.campaign, pytest.mark.usefixtures("somewhere")]

CASE = Path(__file__).parents[2] / "examples" / "incremental-average.json"


def miniature(way, every=1):
    return f"stdio:{shlex.join([sys.executable, '-P', miniatures.__file__, way, str(every)])}"


def adapter(code):
    """An adapter of a few lines. `ask` is the next request, `say` an answer, `ME` the answer to start."""
    Path("adapter.py").write_text(
        "import json, sys, time\n"
        "ME = {'engine': {'name': 'mine'}, 'failures': ['crash'], 'programs': ['map']}\n"
        "ask = lambda: json.loads(sys.stdin.readline() or sys.exit(0))\n"
        "def say(**answer): print(json.dumps(answer), flush=True)\n" + code
    )
    return f"stdio:{shlex.join([sys.executable, 'adapter.py'])}"


def test_smoke_finds_nothing_wrong_with_a_correct_engine(conformance):
    code, out, _ = conformance("smoke", "reference")
    assert code == 0
    assert "reference" in out
    names = [line[10:] for line in out.splitlines() if line.startswith("ok ")]
    assert {f"program {op}" for op in PROGRAMS} < set(names)
    assert len(names) == 3 + len(list(smoke_cases(EVERYTHING)))
    assert f"Nothing is wrong in {len(names)} checks. Now certify it: conformance certify 'reference'" in out


def test_smoke_tries_every_supported_program_and_nothing_else():
    assert [program.op for program in EACH] == list(PROGRAMS)
    few = Capabilities(failures=["restart"], programs=["map"], holds=False)
    names = [trial.name for trial in smoke_cases(few)]
    assert "program map" in names
    assert "program sum" not in names
    assert [name for name in names if name.startswith("failure")] == ["failure restart after epoch 2"]
    assert not any(few.unsupported(trial.case) for trial in smoke_cases(few))


@pytest.mark.parametrize(
    ("way", "said", "hint"),
    [
        ("hang", "it let its deadline pass", "flush it?"),
        ("exit", "it ended early, with exit code 3", "wait for the next line"),
        ("garbage", r"it printed what is no answer: 'Hello \x1b[31m World'", "belongs on stderr"),
        ("another-case", "expected the id of a case that is running", "the id of the request"),
        ("too-little", "expected at least every sink", "shows every stream that was asked for"),
        ("says-error", "no room", ""),
    ],
)
def test_smoke_shows_a_mistake_with_its_lines_and_a_hint(conformance, way, said, hint):
    code, out, _ = conformance("smoke", miniature(way, 10), "--seconds", 0.5)
    assert code == 4
    (wrong,) = [n for n, line in enumerate(out.splitlines()) if line == "wrong     program batch"]
    told = "\n".join(out.splitlines()[wrong:])
    assert '-> {"do": "run"' in told
    assert said in told
    assert hint in told
    assert "\x1b" not in out


def test_smoke_lists_all_mistakes_of_an_adapter(conformance):
    code, out, _ = conformance("smoke", miniature("exit", 7))
    assert code == 4
    assert out.count("wrong  ") == len(list(smoke_cases(EVERYTHING))) // 7
    assert out.splitlines()[-1].endswith("checks are not as they should be.")


def test_smoke_tells_an_engine_which_failures_it_shows(conformance):
    code, out, _ = conformance("smoke", "mutant:appended-on-replay")
    assert code == 1
    assert "violates  failure crash of first in epoch 2, at event 1" in out
    assert "duplicated: Epoch 2 of" in out
    assert out.splitlines()[-1].endswith("The protocol is kept.")


@pytest.mark.parametrize(
    ("code", "check", "said"),
    [
        ("ask(); print(json.dumps(ME), end='', flush=True); time.sleep(99)", "it starts", 'has not ended: \'{"engine"'),
        ("ask(); say(**ME, protocol=2)", "it starts", "it answers in protocol 2, and the newest that was offered is 1"),
        ("ask(); say(**ME, protocol='1')", "it starts", "found '1'; expected the number of a protocol"),
        ("ask(); say(unavailable='no disk')", "it starts", "no disk"),
        ("ask(); say(name='mine')", "it starts", "$.name: found an unknown field; expected engine, protocol"),
        ("ask(); say(**ME); ask(); time.sleep(99)", "it ends when", "it does not end, and had to be ended"),
        ("ask(); say(**ME); ask(); sys.exit(5)", "it ends when", "it ended with exit code 5"),
        (
            "assert ask()['protocol'] == 1; say(**ME); ask()",
            "it answers a suite that offers protocol 2",
            "it ended early, with exit code 1",
        ),
        (
            "ask(); say(**ME)\nwhile (r := ask())['do'] == 'run': say(id=r['id'], end='completed')",
            "one task, one epoch",
            "it showed nothing",
        ),
    ],
)
def test_smoke_checks_how_an_adapter_starts_and_ends(conformance, monkeypatch, code, check, said):
    monkeypatch.setattr("conformance.adapters.pipe.EXIT_SECONDS", 1.0)
    monkeypatch.setattr("conformance.campaign.smoke.Patience", lambda start: _impatient())  # noqa: ARG005
    left, out, _ = conformance("smoke", adapter(code), "--seconds", 0.5)
    assert left == 4
    wrong = next(n for n, line in enumerate(out.splitlines()) if line.startswith(f"wrong     {check}"))
    assert said in "\n".join(out.splitlines()[wrong:])


def _impatient():
    from conformance.adapters.stdio import Patience  # noqa: PLC0415 - the class that the test replaces

    return Patience(start=3.0)


def test_failures_fire_in_order_with_evidence_and_an_observation_after():
    case = next(trial.case for trial in smoke_cases(EVERYTHING) if trial.name == "a failure, and the same again")
    request = RunRequest(case)
    (seen,) = Reference([]).run([request])
    assert judged(request, seen) is None
    last = len(seen.observations)
    wrong = judged(request, evolve(seen, fired=(Fired(1, 1, "it died"), Fired(0, last, ""))))
    assert wrong.standing == "wrong"
    assert wrong.because == (
        "a failure fires once, and in the order of the case",
        "there has to be an observation after every failure",
        "it does not say how it knows that a failure has happened: `evidence` is empty",
    )
    assert "these did not fire: 0, 1" in judged(request, evolve(seen, fired=())).because[0]


def test_with_json_a_check_has_the_lines_of_the_transcript(conformance):
    code, out, _ = conformance("smoke", miniature("garbage", 5), "--json")
    assert code == 4
    checks = [json.loads(line) for line in out.splitlines()]
    assert {each["standing"] for each in checks} == {"ok", "wrong"}
    wrong = next(each for each in checks if each["standing"] == "wrong")
    assert [each["way"] for each in wrong["said"]] == ["->", "<-"]


def test_smoke_writes_a_transcript(conformance):
    assert conformance("smoke", "reference", "--transcript", "said")[0] == 0
    assert Path("said").read_text().count('-> {"do": "run"') == len(list(smoke_cases(EVERYTHING)))
    code, _, err = conformance("smoke", "reference", "--transcript", "said")
    assert code == 2
    assert "there is such a file already" in err


def test_run_writes_a_transcript(conformance):
    assert conformance("run", CASE, "reference", "mutant:plain", "--transcript", "said")[0] == 0
    assert Path("said").read_text().count('-> {"do": "run"') == 2
