"""The corpus of hand-written cases."""

import pytest

from conformance.codec import digest
from conformance.generators import SITUATIONS, corpus, situations
from conformance.model.execution import run
from conformance.model.explore import out_of
from conformance.model.snapshot import gce

CORPUS = corpus()


@pytest.mark.parametrize("file", CORPUS)
def test_each_case_has_a_purpose_and_fires_its_failures(file):
    case = CORPUS[file]
    assert len(case.name.split()) > 3, "a sentence"
    for seed in range(5):
        done = run(case, seed)
        assert done.fired == len(case.failures)
        assert gce(done.end) == case.epochs


def test_all_cases_differ():
    assert len({digest(case) for case in CORPUS.values()}) == len(CORPUS) >= 30


def test_the_corpus_reaches_almost_every_situation():
    reached = {name for case in CORPUS.values() for name in situations(case)}
    assert set(SITUATIONS) - reached == set()


def test_there_is_a_case_for_each_shape_of_bug():
    for shape in (
        "misaligned-border", "in-flight-lost", "replay-committed-twice", "crash-after-the-last-snapshot",
        "failure-during-recovery", "before-the-first-commit", "last-epoch-lost", "shared-stream-restored-for-one",
        "buffer-restored-twice", "paper-incremental-average",
    ):  # fmt: skip
        assert shape in CORPUS


def test_the_misaligned_case_has_several_ends():
    ends = {out_of(run(CORPUS["misaligned-border"], seed).end) for seed in range(30)}
    assert len(ends) > 1
