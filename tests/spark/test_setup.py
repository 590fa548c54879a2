"""What the settings behind `spark:` mean, without Spark."""

import pytest

from conformance.adapters.spark.setup import FOREACH_APPEND, ONCE, RETRIED, TRANSFORM, WORDS, Setup, set_up
from conformance.errors import UnknownEngine
from conformance.registry import engine


def test_without_settings_it_is_the_file_sink_on_a_local_master():
    assert set_up([]) == Setup("file", "hdfs", "applyInPandasWithState", RETRIED, "local")


def test_settings_go_together():
    made = set_up(["foreach-append", "rocksdb", "one-attempt", "local-cluster"])
    assert (made.sink, made.store, made.attempts, made.master) == (FOREACH_APPEND, "rocksdb", ONCE, "local-cluster")
    assert made.settings["sink"] == "foreach-append"
    assert made.settings["attempts"] == "one"


@pytest.mark.parametrize("word", WORDS)
def test_every_setting_says_what_it_is(word):
    field, value = WORDS[word]
    assert getattr(set_up([word]), field) == value


def test_an_unknown_setting_is_refused_with_those_there_are():
    with pytest.raises(UnknownEngine, match=r"no setting 'rockdb'; it has file, foreach-batch, .*spark://HOST:PORT"):
        engine("spark:rockdb")


def test_two_settings_for_the_same_thing_are_refused():
    with pytest.raises(UnknownEngine, match="as hdfs and as rocksdb at once"):
        set_up(["hdfs", "rocksdb"])


def test_transform_with_state_is_on_rocksdb_and_nowhere_else():
    assert set_up(["transform-with-state"]).store == "rocksdb"
    assert set_up(["transform-with-state"]).operator == TRANSFORM
    with pytest.raises(UnknownEngine, match="rocksdb only"):
        set_up(["transform-with-state", "hdfs"])


def test_nothing_listens_beyond_this_machine_unless_the_cluster_is_elsewhere():
    for here in ([], ["local-cluster"], ["spark://127.0.0.1:7077"], ["spark://localhost:7077"]):
        assert set_up(here).conf(ONCE)["spark.driver.bindAddress"] == "127.0.0.1"
    assert "spark.driver.bindAddress" not in set_up(["spark://elsewhere:7077"]).conf(ONCE)


def test_a_cluster_is_told_how_often_to_try_in_another_place_than_a_local_master():
    assert set_up([]).master_for(ONCE) == "local[2,1]"
    cluster = set_up(["spark://127.0.0.1:7077"])
    assert cluster.master_for(ONCE) == "spark://127.0.0.1:7077"
    assert cluster.conf(ONCE)["spark.task.maxFailures"] == "1"
    assert cluster.conf(RETRIED)["spark.task.maxFailures"] == "1000"
