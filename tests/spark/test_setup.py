"""The settings after `spark:`, without Spark."""

import socket
from contextlib import contextmanager

import pytest

from conformance.adapters.spark.master import check_master, explained_by_master
from conformance.adapters.spark.setup import (
    FOREACH_APPEND,
    ONCE,
    RETRIED,
    SETTINGS,
    TRANSFORM,
    SparkSetup,
    parse_settings,
)
from conformance.errors import EngineFailed, EngineUnavailable, UnknownEngine
from conformance.generators import corpus
from conformance.registry import engine

WORKER_KILLED, COORDINATOR_KILLED = "keyed-state-partly-restored", "replay-committed-twice"


def test_the_default_is_the_file_sink():
    assert parse_settings([]) == SparkSetup("file", "hdfs", "applyInPandasWithState", RETRIED)


def test_executors_are_killed_on_a_local_cluster_and_everything_else_runs_on_a_local_master():
    setup, (worker, coordinator) = parse_settings([]), (corpus()[name] for name in (WORKER_KILLED, COORDINATOR_KILLED))
    assert [setup.master_of(case) for case in (worker, coordinator)] == ["local-cluster", "local"]
    assert parse_settings(["local"]).master_of(worker) == "local"
    assert parse_settings(["spark://127.0.0.1:7077"]).masters == ("spark://127.0.0.1:7077",)


def test_settings_can_be_combined():
    setup = parse_settings(["foreach-append", "rocksdb", "one-attempt", "local-cluster"])
    assert (setup.sink, setup.store, setup.attempts, setup.master) == (FOREACH_APPEND, "rocksdb", ONCE, "local-cluster")
    assert setup.settings["sink"] == "foreach-append"
    assert setup.settings["attempts"] == "one"


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_setting_selects_its_value(setting):
    field, value = SETTINGS[setting]
    assert getattr(parse_settings([setting]), field) == value


def test_an_unknown_setting_is_refused_with_the_known_ones():
    with pytest.raises(UnknownEngine, match=r"no setting 'rockdb'; it has file, foreach-batch, .*spark://HOST:PORT"):
        engine("spark:rockdb")


@pytest.mark.parametrize("master", ["spark://", "spark://nowhere", "spark://a b:7077", "spark://nowhere:port"])
def test_a_malformed_master_is_refused(master):
    with pytest.raises(UnknownEngine, match="is no Spark master; give spark://HOST:PORT"):
        parse_settings([master])


@contextmanager
def listening():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_a_master_that_does_not_answer_is_refused_with_a_hint():
    with listening() as address:
        check_master(f"spark://{address}", "do something else")
        check_master(f"spark://127.0.0.1:1,{address}", "do something else")
    host, _, port = address.partition(":")
    with pytest.raises(EngineUnavailable) as refused:
        check_master(f"spark://{address}", "do something else")
    assert str(refused.value) == (
        f"no Spark master answers at {address} (Connection refused); start one with `spark-class "
        f"org.apache.spark.deploy.master.Master --host {host} --port {port}`, or do something else"
    )


@pytest.mark.parametrize("master", ["local", "local-cluster"])
def test_a_local_master_needs_no_answer(master):
    check_master(master, "")


def test_a_driver_that_another_program_refuses_is_explained():
    with (
        pytest.raises(EngineUnavailable, match="it ended; is spark://here:8080 a Spark master of this version"),
        explained_by_master("spark://here:8080"),
    ):
        raise EngineFailed("it ended")
    with pytest.raises(EngineFailed, match=r"it ended$"), explained_by_master("local"):
        raise EngineFailed("it ended")


def test_contradictory_settings_are_refused():
    with pytest.raises(UnknownEngine, match="as hdfs and as rocksdb at once"):
        parse_settings(["hdfs", "rocksdb"])


def test_transform_with_state_needs_rocksdb():
    assert parse_settings(["transform-with-state"]).store == "rocksdb"
    assert parse_settings(["transform-with-state"]).operator == TRANSFORM
    with pytest.raises(UnknownEngine, match="rocksdb only"):
        parse_settings(["transform-with-state", "hdfs"])


def test_a_driver_listens_on_loopback_unless_the_cluster_is_remote():
    for settings in ([], ["local-cluster"], ["spark://127.0.0.1:7077"], ["spark://localhost:7077"]):
        assert parse_settings(settings).conf(ONCE)["spark.driver.bindAddress"] == "127.0.0.1"
    assert "spark.driver.bindAddress" not in parse_settings(["spark://elsewhere:7077"]).conf(ONCE)


def test_attempts_are_set_in_a_local_master_or_in_the_configuration():
    assert parse_settings(["local"]).master_for(ONCE) == "local[2,1]"
    cluster = parse_settings(["spark://127.0.0.1:7077"])
    assert cluster.master_for(ONCE) == "spark://127.0.0.1:7077"
    assert cluster.conf(ONCE)["spark.task.maxFailures"] == "1"
    assert cluster.conf(RETRIED)["spark.task.maxFailures"] == "1000"
