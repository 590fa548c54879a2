"""What counts as committed, from files as Spark leaves them."""

import json

import pytest

from conformance.adapters.spark.committed import Committed, Offsets
from conformance.adapters.spark.setup import FILE, FOREACH_APPEND, FOREACH_BATCH


def row(seq, value=None, epoch=1):
    return {"case": 0, "stream": "s", "epoch": epoch, "seq": seq} | ({} if value is None else {"value": value})


@pytest.fixture
def put(tmp_path):
    def write(place, *rows):
        file = tmp_path / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(each) + "\n" for each in rows))
        return str(file)

    return write


def values(committed):
    return [[each.get("value") for each in epoch.get((0, "s"), [])] for epoch in committed.epochs()]


@pytest.fixture(autouse=True)
def offsets(tmp_path):
    """Each batch is an epoch, unless a test says something else."""
    log = tmp_path / "checkpoint" / "offsets"
    log.mkdir(parents=True)
    for batch in range(3):
        (log / str(batch)).write_text(f'v1\n{{"batchWatermarkMs":0}}\n{{"logOffset":{batch}}}')
    return log


def test_files_that_the_sinks_log_does_not_name_are_not_there(tmp_path, put):
    named = put("out/part-00000-b-c000.json", row(1, "2"), row(0, "1"), row(2))
    put("out/part-00000-a-c000.json", row(0, "1"), row(1, "2"), row(2))
    (tmp_path / "out" / "_spark_metadata").mkdir()
    (tmp_path / "out" / "_spark_metadata" / "0").write_text("v1\n" + json.dumps({"path": f"file://{named}"}) + "\n")
    committed = Committed(tmp_path, FILE)
    assert values(committed) == []
    put("checkpoint/commits/0")
    assert values(committed) == [["1", "2", None]]


def test_a_batch_that_was_written_again_in_its_own_folder_is_there_once(tmp_path, put):
    put("out/batch=0/part-00000-a-c000.json", row(0, "1"), row(1))
    put("out/batch=1/part-00000-b-c000.json", row(0, "9", epoch=2))
    put("checkpoint/commits/0")
    assert values(Committed(tmp_path, FOREACH_BATCH)) == [["1", None]]


def test_a_batch_that_was_added_twice_is_there_twice(tmp_path, put):
    put("checkpoint/commits/0")
    put("out/part-00000-a-c000.json", row(0, "1"), row(2))
    put("out/part-00001-a-c000.json", row(1, "2"))
    committed = Committed(tmp_path, FOREACH_APPEND)
    assert values(committed) == [["1", "2", None]]
    put("out/part-00000-b-c000.json", row(0, "1"), row(1, "2"), row(2))
    put("out/part-00000-c-c000.json", row(0, "3", epoch=2))
    assert values(committed) == [["1", "2", None, "1", "2", None]]


def test_a_batch_may_have_two_epochs_which_are_committed_at_once(tmp_path, put, offsets):
    (offsets / "0").write_text('v1\n{}\n{"logOffset":1}')
    put("out/batch=0/part-00000-a-c000.json", row(0, "1"), row(1), row(0, "2", epoch=2), row(1, epoch=2))
    committed = Committed(tmp_path, FOREACH_BATCH)
    assert len(committed) == 0
    put("checkpoint/commits/0")
    assert values(committed) == [["1", None], ["2", None]]
    assert [Offsets(tmp_path).batch(epoch) for epoch in (1, 2, 3)] == [0, 0, 2]


def test_an_epoch_that_is_in_no_batch_yet_will_be_in_the_next(tmp_path):
    assert [Offsets(tmp_path).batch(epoch) for epoch in (1, 3, 4, 9)] == [0, 2, 3, 3]


def test_gaps_stay_gaps(tmp_path, put):
    put("out/batch=0/part-00000-a-c000.json", row(3, "4"), row(0, "1"))
    put("checkpoint/commits/0")
    put("checkpoint/commits/2")
    assert values(Committed(tmp_path, FOREACH_BATCH)) == [["1", "4"]]
