"""The committed output, read from files as Spark writes them."""

import json

import pytest

from conformance.adapters.spark.committed_batches import CommittedBatches, OffsetLog
from conformance.adapters.spark.setup import FILE, FOREACH_APPEND, FOREACH_BATCH


def row(seq, value=None, epoch=1):
    return {"case": 0, "stream": "s", "epoch": epoch, "seq": seq} | ({} if value is None else {"value": value})


@pytest.fixture
def put(tmp_path):
    def write(name, *rows):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(each) + "\n" for each in rows))
        return str(file)

    return write


def values(committed):
    return [[each.get("value") for each in epoch.get((0, "s"), [])] for epoch in committed.epochs()]


@pytest.fixture(autouse=True)
def offsets(tmp_path):
    """An offset log in which each micro-batch is an epoch, unless a test changes it."""
    log = tmp_path / "checkpoint" / "offsets"
    log.mkdir(parents=True)
    for batch in range(3):
        (log / str(batch)).write_text(f'v1\n{{"batchWatermarkMs":0}}\n{{"logOffset":{batch}}}')
    return log


def test_files_outside_the_sinks_log_are_not_output(tmp_path, put):
    named = put("out/part-00000-b-c000.json", row(1, "2"), row(0, "1"), row(2))
    put("out/part-00000-a-c000.json", row(0, "1"), row(1, "2"), row(2))
    (tmp_path / "out" / "_spark_metadata").mkdir()
    (tmp_path / "out" / "_spark_metadata" / "0").write_text("v1\n" + json.dumps({"path": f"file://{named}"}) + "\n")
    committed = CommittedBatches(tmp_path, FILE)
    assert values(committed) == []
    put("checkpoint/commits/0")
    assert values(committed) == [["1", "2", None]]


def test_a_micro_batch_in_its_own_folder_is_read_once(tmp_path, put):
    put("out/batch=0/part-00000-a-c000.json", row(0, "1"), row(1))
    put("out/batch=1/part-00000-b-c000.json", row(0, "9", epoch=2))
    put("checkpoint/commits/0")
    assert values(CommittedBatches(tmp_path, FOREACH_BATCH)) == [["1", None]]


def test_a_micro_batch_that_was_appended_twice_is_duplicated(tmp_path, put):
    put("checkpoint/commits/0")
    put("out/part-00000-a-c000.json", row(0, "1"), row(2))
    put("out/part-00001-a-c000.json", row(1, "2"))
    committed = CommittedBatches(tmp_path, FOREACH_APPEND)
    assert values(committed) == [["1", "2", None]]
    put("out/part-00000-b-c000.json", row(0, "1"), row(1, "2"), row(2))
    put("out/part-00000-c-c000.json", row(0, "3", epoch=2))
    assert values(committed) == [["1", "2", None, "1", "2", None]]


def test_two_epochs_of_a_micro_batch_are_committed_together(tmp_path, put, offsets):
    (offsets / "0").write_text('v1\n{}\n{"logOffset":1}')
    put("out/batch=0/part-00000-a-c000.json", row(0, "1"), row(1), row(0, "2", epoch=2), row(1, epoch=2))
    committed = CommittedBatches(tmp_path, FOREACH_BATCH)
    assert len(committed) == 0
    put("checkpoint/commits/0")
    assert values(committed) == [["1", None], ["2", None]]
    assert [OffsetLog(tmp_path).batch(epoch) for epoch in (1, 2, 3)] == [0, 0, 2]


def test_an_epoch_without_a_micro_batch_belongs_to_the_next(tmp_path):
    assert [OffsetLog(tmp_path).batch(epoch) for epoch in (1, 3, 4, 9)] == [0, 2, 3, 3]


def test_a_gap_in_the_output_stays_a_gap(tmp_path, put):
    put("out/batch=0/part-00000-a-c000.json", row(3, "4"), row(0, "1"))
    put("checkpoint/commits/0")
    put("checkpoint/commits/2")
    assert values(CommittedBatches(tmp_path, FOREACH_BATCH)) == [["1", "4"]]
