"""The hand-written cases."""

import pytest

from conformance.codec import digest
from conformance.generators import SITUATIONS, corpus, situations
from conformance.model.execution import run
from conformance.model.explore import out_of
from conformance.model.snapshot import gce

CORPUS = corpus()


@pytest.mark.parametrize("file", CORPUS)
def test_each_says_what_it_is_for_and_exercises_its_failures(file):
    case = CORPUS[file]
    assert len(case.name.split()) > 3, "a sentence"
    for seed in range(5):
        done = run(case, seed)
        assert done.fired == len(case.failures)
        assert gce(done.end) == case.epochs


def test_all_are_different():
    assert len({digest(case) for case in CORPUS.values()}) == len(CORPUS) >= 30


def test_together_they_reach_almost_every_situation():
    reached = {name for case in CORPUS.values() for name in situations(case)}
    assert set(SITUATIONS) - reached == set()


def test_there_is_one_for_each_shape_of_bug():
    for shape in (
        "misaligned-border", "in-flight-lost", "replay-committed-twice", "crash-after-the-last-snapshot",
        "failure-during-recovery", "before-the-first-commit", "last-epoch-lost", "shared-stream-restored-for-one",
        "buffer-restored-twice", "paper-incremental-average",
    ):  # fmt: skip
        assert shape in CORPUS


def test_the_misaligned_one_can_end_in_more_than_one_way():
    ends = {out_of(run(CORPUS["misaligned-border"], seed).end) for seed in range(30)}
    assert len(ends) > 1
