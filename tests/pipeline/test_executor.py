"""The model's work on a cluster comes to what it comes to here."""

import json
from functools import partial

import pytest

from conformance.campaign.events import Judged
from conformance.campaign.plan import Plan
from conformance.campaign.results import Results
from conformance.campaign.sensitivity import mutant_trials
from conformance.campaign.session import CampaignConfig, certify, proceed
from conformance.cli.explore import explored
from conformance.generators import corpus
from conformance.generators.collect import Numbered
from conformance.pipeline.executor import ClusterExecutor, WorkFailed, sliced
from conformance.reports.folder import finish

# Spark's gateway closes its sockets when it likes.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::ResourceWarning")]

ORDER = CampaignConfig(cases=40, seed=7, shrink_runs=20)


@pytest.fixture
def make_executor(spark):
    return lambda: ClusterExecutor(spark)


def test_slices_have_everything_once_and_in_order():
    for length in range(12):
        for number in range(1, 6):
            parts = sliced(range(length), number)
            assert [each for part in parts for each in part] == list(range(length))
            assert len(parts) == min(number, length)
            assert max(map(len, parts), default=0) - min(map(len, parts), default=0) <= 1


@pytest.mark.parametrize("word", ["reference", "mutant:appended-on-replay"])
def test_a_campaign_on_a_cluster_ends_in_the_same_certificate(tmp_path, make_executor, word):
    here, there = tmp_path / "here", tmp_path / "there"
    local = list(certify(word, ORDER, here))
    spread = list(certify(word, ORDER, there, make_executor))
    assert spread == local
    assert finish(there) == finish(here)
    digests = Results(here).digests()
    assert Results(there).digests() == digests
    assert len(digests) > 2 * ORDER.cases


def test_what_came_back_is_kept_as_parquet(tmp_path, make_executor):
    from pyarrow import parquet  # noqa: PLC0415

    events = list(certify("reference", ORDER, tmp_path / "results", make_executor))
    rows = parquet.read_table(tmp_path / "results" / "slices").to_pylist()
    judged = [event for event in events if isinstance(event, Judged)]
    assert [(row["index"], row["digest"], row["outcome"]) for row in sorted(rows, key=lambda row: row["index"])] == [
        (each.index, each.digest, each.outcome) for each in judged
    ]
    assert all(json.loads(row["observations"])["case"] == row["digest"] for row in rows)


def test_a_campaign_that_was_begun_on_a_cluster_can_be_gone_on_with_here(tmp_path, make_executor):
    whole = list(certify("reference", ORDER, tmp_path / "whole"))
    begun = certify("reference", ORDER, tmp_path / "begun", make_executor)
    for _ in range(10):
        next(begun)
    begun.close()
    assert list(proceed(Results(tmp_path / "begun"))) == whole


def test_cases_are_the_same_wherever_they_are_drawn(make_executor):
    here, there = Plan(number=50, seed=3), Plan(number=50, seed=3, draw=make_executor().numbered)
    assert list(there) == list(here)
    assert isinstance(here.numbered, Numbered)


def test_trials_of_mutants_come_to_the_same(make_executor):
    todo = mutant_trials(number=5, runs=20, seed=1)
    assert len(todo) > 60
    assert [each.result() for each in make_executor().submit_all(todo)] == [trial() for trial in todo]


def test_explorations_come_to_the_same_also_where_there_is_too_much_to_explore(make_executor):
    todo = [partial(explored, case, 1, reduced=True, most=150) for case in corpus().values()]
    found = [each.result() for each in make_executor().submit_all(todo)]
    assert found == [one() for one in todo]
    assert {each.code for each in found} == {0, 3}


def boom(number):
    if number == 3:
        raise ValueError("three")
    return number * number


def test_what_fails_on_the_cluster_is_told_and_ends_nothing_else(spark):
    executor = ClusterExecutor(spark)
    futures = executor.submit_all([partial(boom, number) for number in range(3)])
    assert [each.result() for each in futures] == [0, 1, 4]
    with pytest.raises(WorkFailed, match="ValueError: three"):
        executor.map(boom, [1, 2, 3])
    assert executor.submit(boom, 4).result() == 16
