"""A cluster executor gives the same results as a local one."""

import json
from functools import partial

import pytest

from conformance.campaign.events import Judged
from conformance.campaign.plan import Plan
from conformance.campaign.results import Results
from conformance.campaign.sensitivity import mutant_trials
from conformance.campaign.session import CampaignConfig, certify, resume
from conformance.cli.explore import explored
from conformance.generators import corpus
from conformance.generators.collect import Numbered
from conformance.pipeline.executor import ClusterExecutor, WorkFailed, sliced
from conformance.reports.folder import finish

# Spark's gateway closes its sockets late.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::ResourceWarning")]

CONFIG = CampaignConfig(cases=40, seed=7, shrink_runs=20)


@pytest.fixture
def make_executor(spark):
    return lambda: ClusterExecutor(spark)


def test_slices_have_every_item_once_and_in_order():
    for length in range(12):
        for number in range(1, 6):
            parts = sliced(range(length), number)
            assert [each for part in parts for each in part] == list(range(length))
            assert len(parts) == min(number, length)
            assert max(map(len, parts), default=0) - min(map(len, parts), default=0) <= 1


@pytest.mark.parametrize("engine", ["reference", pytest.param("mutant:appended-on-replay", marks=pytest.mark.full)])
def test_a_campaign_on_a_cluster_ends_in_the_same_certificate(tmp_path, make_executor, engine):
    local_folder, cluster_folder = tmp_path / "local", tmp_path / "cluster"
    local = list(certify(engine, CONFIG, local_folder))
    distributed = list(certify(engine, CONFIG, cluster_folder, make_executor))
    assert distributed == local
    assert finish(cluster_folder) == finish(local_folder)
    digests = Results(local_folder).digests()
    assert Results(cluster_folder).digests() == digests
    assert len(digests) > 2 * CONFIG.cases


def test_the_rows_of_a_cluster_are_written_as_parquet(tmp_path, make_executor):
    from pyarrow import parquet  # noqa: PLC0415

    events = list(certify("reference", CONFIG, tmp_path / "results", make_executor))
    rows = parquet.read_table(tmp_path / "results" / "slices").to_pylist()
    judged = [event for event in events if isinstance(event, Judged)]
    assert [(row["index"], row["digest"], row["outcome"]) for row in sorted(rows, key=lambda row: row["index"])] == [
        (each.index, each.digest, each.outcome) for each in judged
    ]
    assert all(json.loads(row["observations"])["case"] == row["digest"] for row in rows)


def test_a_campaign_that_began_on_a_cluster_can_be_resumed_locally(tmp_path, make_executor):
    whole = list(certify("reference", CONFIG, tmp_path / "whole"))
    begun = certify("reference", CONFIG, tmp_path / "begun", make_executor)
    for _ in range(10):
        next(begun)
    begun.close()
    assert list(resume(Results(tmp_path / "begun"))) == whole


def test_a_cluster_draws_the_same_cases(make_executor):
    local, distributed = Plan(generated=50, seed=3), Plan(generated=50, seed=3, draw=make_executor().numbered)
    assert list(distributed) == list(local)
    assert isinstance(local.numbered, Numbered)


def test_a_cluster_gives_the_same_results_for_mutants(make_executor):
    calls = mutant_trials(number=5, runs=20, seed=1)
    assert len(calls) > 60
    assert [each.result() for each in make_executor().submit_all(calls)] == [trial() for trial in calls]


def test_a_cluster_explores_cases_with_the_same_results(make_executor):
    calls = [partial(explored, case, 1, reduced=True, most=150) for case in corpus().values()]
    found = [each.result() for each in make_executor().submit_all(calls)]
    assert found == [one() for one in calls]
    assert {each.code for each in found} == {0, 3}


def raise_on_three(number):
    if number == 3:
        raise ValueError("three")
    return number * number


def test_an_exception_on_the_cluster_is_raised_and_ends_no_other_call(spark):
    executor = ClusterExecutor(spark)
    futures = executor.submit_all([partial(raise_on_three, number) for number in range(3)])
    assert [each.result() for each in futures] == [0, 1, 4]
    with pytest.raises(WorkFailed, match="ValueError: three"):
        executor.map(raise_on_three, [1, 2, 3])
    assert executor.submit(raise_on_three, 4).result() == 16
