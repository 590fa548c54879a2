"""Malformed datasets are refused with the file, the JSON path, what was found and what was expected."""

import json
import re
import shutil
from contextlib import suppress

import pytest

from conformance.case import Case, Graph, Task
from conformance.codec import digest
from conformance.errors import Malformed, Unreadable, Unwritable
from conformance.model.execution import run
from conformance.model.snapshot import observed
from conformance.observation import Observation, Observations
from conformance.pipeline.dataset import OBSERVED, open_dataset
from conformance.pipeline.event_values import is_event
from conformance.pipeline.writer import write
from conformance.programs import P, Sum

# Spark's gateway closes its sockets late.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::ResourceWarning")]

with suppress(ImportError):  # Where Spark is not, these tests are left out by their mark.
    import pyarrow as pa
    from pyarrow import parquet

CASE = Case(Graph(("a",), (Task("t", ("a",), "x", Sum()),)), {"a": ((1, 2), (3,), (4, 5))})


@pytest.fixture
def files(tmp_path):
    """Write a case and two observations, each with its dataset."""
    shown = observed(run(CASE).end)
    first = {stream: epochs[:1] for stream, epochs in shown.items()}
    return write(tmp_path, CASE, Observations(digest(CASE), (Observation(first), Observation(shown))))


def rewritten(path, change):
    """Rewrite a dataset with other rows; each is [observation, stream, epoch, seq, value]."""
    table = parquet.read_table(path)
    rows = [list(row.values()) for row in table.to_pylist()]
    rows = change(rows) or rows
    columns = [pa.array([row[n] for row in rows], field.type) for n, field in enumerate(table.schema)]
    parquet.write_table(pa.table(columns, schema=table.schema), path)


def at(rows, *place):
    """Return the row of that observation, stream and seq."""
    return next(row for row in rows if (row[0], row[1], row[3]) == place)


def without(*place):
    return lambda rows: [row for row in rows if (row[0], row[1], row[3]) != place]


def setting(observation, stream, seq, column, value):
    def change(rows):
        at(rows, observation, stream, seq)[column] = value

    return change


EPOCH, SEQ, VALUE = 2, 3, 4


def _exchanged(row):
    """Exchange the last event of an epoch and its border."""
    return [*row[:3], {1: 2, 2: 1}.get(row[3], row[3]), row[4]]


REFUSED = {
    "a missing epoch": (
        lambda rows: [row for row in rows if row[:3] != [1, "x", 2]],
        "$.observations[1].x: found epoch 3 and no epoch 2",
    ),
    "an epoch without its border": (
        without(1, "x", 7),
        "$.observations[1].x: found epoch 3 without its border",
    ),
    "rows out of order": (
        lambda rows: [[*row[:2], {1: 2, 2: 1}.get(row[2], row[2]), *row[3:]] if row[0] == 1 else row for row in rows],
        "rows out of order: seq 0 is of epoch 2, seq 4 of epoch 1",
    ),
    "a number that is missing": (without(1, "a", 1), "$.observations[1].a: found no row with seq 1 in epoch 1"),
    "no first number": (without(1, "a", 0), "$.observations[1].a: found no row with seq 0"),
    "a number twice": (lambda rows: [*rows, at(rows, 1, "x", 1)], "found seq 1 twice in epoch 1"),
    "a number in two epochs": (setting(1, "x", 3, SEQ, 2), "found seq 2 in epoch 1 and in epoch 2"),
    "two borders": (setting(1, "x", 1, VALUE, None), "found 2 borders in epoch 1"),
    "an event behind the border": (
        lambda rows: [_exchanged(row) if row[:3] == [1, "x", 1] else row for row in rows],
        "found seq 2 behind the border of epoch 1",
    ),
    "an event out of range": (setting(0, "x", 1, VALUE, P), f"$.observations[0].x: found {P} at seq 1 of epoch 1"),
    "a negative event": (setting(1, "x", 3, VALUE, -1), "found -1 at seq 3 of epoch 2"),
    "an unknown stream": (setting(1, "x", 3, 1, "y"), "$.stream: found stream 'y'; expected one of a, x"),
    "an observation too many": (setting(1, "x", 3, 0, 2), "found observation 2; expected one from 0 to 1"),
    "no observation": (setting(1, "x", 3, 0, None), "found observation null"),
    "epoch 0": (setting(1, "x", 3, EPOCH, 0), "found epoch 0; expected one from 1"),
    "a negative number": (setting(1, "x", 3, SEQ, -3), "found seq -3"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_rows_that_form_no_streams_are_refused(answer, files, tmp_path, what):
    change, expected = REFUSED[what]
    rewritten(tmp_path / "seen.parquet", change)
    with pytest.raises(Malformed, match=re.escape(expected)) as refused:
        answer(files)
    assert refused.value.file == str(tmp_path / "seen.parquet")


def test_wrong_row_numbers_with_the_right_sum_are_refused(answer, tmp_path):
    case = Case(CASE.graph, {"a": ((1, 2, 3),)})
    files = write(tmp_path, case, Observations(digest(case), (Observation(observed(run(case).end)),)))

    def change(rows):
        """0 0 3 3 is as long as 0 1 2 3, from 0 to 3, and has the same sum."""
        at(rows, 0, "x", 1)[SEQ], at(rows, 0, "x", 2)[SEQ] = 0, 3

    rewritten(tmp_path / "seen.parquet", change)
    with pytest.raises(Malformed, match=re.escape("$.observations[0].x: found seq 0 twice in epoch 1")):
        answer(files)


def test_a_dataset_with_another_number_of_epochs_is_refused(answer, files, tmp_path):
    text = json.loads((tmp_path / "case.json").read_text())
    text["inputs"]["epochs"] = 4
    (tmp_path / "case.json").write_text(json.dumps(text))
    with pytest.raises(Malformed, match=re.escape("$.inputs.a: found 3 epochs; expected 4")):
        answer(files)


def test_observations_of_other_inputs_are_refused(answer, files, tmp_path):
    rewritten(tmp_path / "inputs.parquet", lambda rows: rows[0].__setitem__(3, 8))
    with pytest.raises(Malformed, match=re.escape("as for this case: they are of another")):
        answer(files)


def test_text_that_is_no_event_is_refused(answer, tmp_path):
    case = Case(CASE.graph, {"a": (("reset", 1),)})
    files = write(tmp_path, case, Observations(digest(case), (Observation({"x": (("reset", 1),)}),)))
    rewritten(tmp_path / "seen.parquet", setting(0, "x", 0, VALUE, "reset"))
    with pytest.raises(Malformed, match=re.escape("$.observations[0].x: found 'reset' at seq 0 of epoch 1")):
        answer(files)


@pytest.mark.parametrize(
    "text",
    ['"a', "[1]", "1.5", "true", "null", f'"{"a" * 65}"', str(P), "-1", "01", '"\\u0061"', '"é"', ' "a"', "{}", ""],
)
def test_only_canonical_json_is_an_event(text):
    assert not is_event(text)
    assert is_event('"a"')


@pytest.mark.usefixtures("files")
def test_missing_unknown_and_mistyped_columns_are_refused(tmp_path):
    path = tmp_path / "seen.parquet"
    table = parquet.read_table(path)
    wrong = {
        "found no column seq": table.drop_columns(["seq"]),
        "found a column 'more'": table.append_column("more", table["seq"]),
        "$.value: found a column of type double": _cast(table, "value", pa.float64()),
        "$.epoch: found a column of type string": _cast(table, "epoch", pa.string()),
        "$.stream: found a column of type int64": table.set_column(1, "stream", table["seq"]),
        "$.seq: found a column of type uint64": _cast(table, "seq", pa.uint64()),
    }
    for expected, other in wrong.items():
        parquet.write_table(other, path)
        with pytest.raises(Malformed, match=re.escape(expected)):
            open_dataset(path, OBSERVED)


def _cast(table, name, to):
    place = table.schema.get_field_index(name)
    return table.set_column(place, name, table[name].cast(to))


@pytest.mark.usefixtures("files")
def test_a_missing_or_incomplete_dataset_is_refused(tmp_path):
    path = tmp_path / "seen.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(Unreadable, match="it is no Parquet file, or incomplete"):
        open_dataset(path, OBSERVED)
    path.unlink()
    with pytest.raises(Unreadable, match="there is no such file or folder"):
        open_dataset(path, OBSERVED)
    path.mkdir()
    (path / "part-0.parquet").write_bytes(whole)
    with pytest.raises(Unreadable, match="no _SUCCESS in it, so it may be half-written"):
        open_dataset(path, OBSERVED)
    (path / "_SUCCESS").touch()
    assert open_dataset(path, OBSERVED).kind == "integers"
    (path / "part-1.parquet").write_bytes(b"")
    with pytest.raises(Unreadable, match=re.escape("part-1.parquet: it is no Parquet")):
        open_dataset(path, OBSERVED)


def test_damaged_rows_are_refused(answer, files, tmp_path):
    path = tmp_path / "seen.parquet"
    raw = bytearray(path.read_bytes())
    raw[4:400] = b"\xff" * 396
    path.write_bytes(raw)
    with pytest.raises(Unreadable, match=r"Spark cannot read it .*seen\.parquet"):
        answer(files)


def test_a_folder_written_by_spark_is_a_dataset(spark, answer, files, tmp_path):
    (tmp_path / "seen.parquet").rename(tmp_path / "old.parquet")
    spark.read.parquet(str(tmp_path / "old.parquet")).repartition(3).write.parquet(str(tmp_path / "seen.parquet"))
    assert answer(files).epochs == 3


@pytest.mark.usefixtures("files")
def test_the_writer_never_overwrites_and_leaves_nothing_unfinished(tmp_path):
    with pytest.raises(Unwritable, match="it exists already"):
        write(tmp_path, CASE, Observations(digest(CASE), ()))
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(tmp_path / "case.json", other)
    with pytest.raises(Unwritable, match=re.escape("case.json")):
        write(other, CASE, Observations(digest(CASE), (Observation({"x": ()}),)))
    assert not list(other.glob(".*"))
    assert not list(other.glob("observations.json"))
