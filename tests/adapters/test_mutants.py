"""Every broken engine is convicted, and no correct one accused."""

from statistics import median

import pytest

from conformance.adapters.mutants import GROUPS, MUTANTS, ODD, Mutant
from conformance.campaign.sensitivity import Killed, Spared, judge_mutant, run_mutants
from conformance.engine import RunRequest
from conformance.errors import UnknownEngine
from conformance.generators import corpus
from conformance.judge import Violates, judge


@pytest.fixture(scope="module")
def found():
    return list(run_mutants(number=200, runs=400, seed=0))


def test_every_mutant_is_killed_within_200_cases_half_within_10(found):
    killed = [each for each in found if isinstance(each, Killed)]
    assert [each.mutant for each in killed if each.cases is None] == []
    assert len(killed) >= 40
    assert median(each.cases for each in killed) <= 10


def test_no_correct_engine_is_accused(found):
    spared = [each for each in found if isinstance(each, Spared)]
    assert len(spared) >= 6
    assert sum(each.runs for each in spared) >= 400
    assert [each.mutant for each in spared if each.accused] == []


def test_each_mutant_has_a_description_of_one_line():
    for machine in (MUTANTS | ODD).values():
        assert machine.__doc__
        assert "\n" not in machine.__doc__.strip()


def test_the_groups_are_the_rules_they_break():
    assert list(GROUPS) == ["alignment", "snapshot", "recovery", "streams", "output", "atomicity", "liveness"]
    assert len(MUTANTS) == sum(map(len, GROUPS.values())), "no name twice"


@pytest.mark.parametrize("name", ODD)
def test_a_correct_engine_runs_the_corpus_unaccused(name):
    for seed, case in enumerate(corpus().values()):
        assert not isinstance(judge_mutant(ODD[name], case, 4 * seed), Violates)


@pytest.mark.parametrize(
    ("mutant", "case", "diagnosis"),
    [
        ("overtakes-the-border", "misaligned-border-without-failure", "misaligned"),
        ("appended-on-replay", "paper-observed-execution", "duplicated"),
        ("uncommitted-visible", "paper-observed-execution", "dirty"),
        ("committed-twice", "replay-committed-twice", "duplicated"),
        ("last-epoch-never", "last-epoch-lost", "stalled"),
        ("sources-not-rewound", "before-the-first-commit", "lost"),
        ("taken-back", "restart-between-epochs", "retracted"),
        ("stream-by-stream", "snapshot-under-way", "torn"),
        ("not-fifo", "shared-stream-restored-for-one", "reordered"),
        ("state-from-the-start", "paper-observed-execution", "corrupted state"),
        ("stalls-after-the-second-recovery", "crash-at-once-after-recovery", "stalled"),
    ],
)
def test_each_mutant_has_the_right_diagnosis_on_its_case(mutant, case, diagnosis):
    told = set()
    for seed in range(30):
        (seen,) = Mutant([mutant]).run([RunRequest(corpus()[case], seed=seed)])
        verdict = judge(corpus()[case], seen)
        if isinstance(verdict, Violates):
            told |= {finding.diagnosis for finding in verdict.findings}
    assert diagnosis in told


def test_an_unknown_mutant_is_refused_with_similar_names():
    with pytest.raises(UnknownEngine, match="there is no mutant 'taken-bak'; near it are taken-back"):
        Mutant(["taken-bak"])
    with pytest.raises(UnknownEngine):
        Mutant(["plain", "aliased"])
    assert Mutant([]).machine is ODD["plain"]
