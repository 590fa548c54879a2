"""Observation files: what is accepted, what is refused, and with which message."""

import copy
import json

import pytest
from hypothesis import given

from conformance.case import Case, Crash, Graph, Task
from conformance.codec import decode_observations, digest, encode_observations, parse
from conformance.errors import Malformed
from conformance.programs import Sum
from tests.test_case import anything, places

CASE = Case(Graph(("a",), (Task("t", ("a",), "x", Sum()),)), {"a": ((1,), (2,))}, (Crash("t", 2, 0),))

VALID = {
    "format": "conformance-observations/1",
    "case": digest(CASE),
    "engine": {"name": "mine", "version": "1.0", "settings": {"mode": "fast"}},
    "epochs": "given",
    "atomic": False,
    "snapshots": "aligned",
    "observations": [
        {"t": 0.5, "streams": {"a": [[1]], "x": [[1]]}},
        {"streams": {"a": [[1], [2]], "x": [[1], [3]]}},
    ],
    "fired": [{"failure": 0, "before": 1, "t": 0.7, "evidence": "it threw"}],
    "end": "completed",
}


def changed(path, value):
    document = copy.deepcopy(VALID)
    *way, key = path
    holder = document
    for part in way:
        holder = holder[part]
    holder[key] = value
    return document


def test_accepts_every_part_of_the_format_and_writes_it_again():
    seen = decode_observations(VALID)
    seen.check_fit(CASE, digest(CASE))
    assert json.loads(json.dumps(encode_observations(seen))) == VALID


def test_optional_fields_have_defaults():
    bare = {key: VALID[key] for key in ("format", "case", "observations")}
    seen = decode_observations(bare)
    assert (seen.epochs, seen.atomic, seen.snapshots, seen.end) == ("given", True, "aligned", "completed")


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        (("format",), "conformance-case/1", "$.format"),
        (("colour",), "red", "$.colour"),
        (("epochs",), "mine", "$.epochs"),
        (("atomic",), 1, "$.atomic"),
        (("snapshots",), None, "$.snapshots"),
        (("end",), "later", "$.end"),
        (("engine", "name"), 7, "$.engine.name"),
        (("engine", "settings"), [], "$.engine.settings"),
        (("observations",), {}, "$.observations"),
        (("observations", 0, "t"), "now", "$.observations[0].t"),
        (("observations", 0, "streams"), [], "$.observations[0].streams"),
        (("observations", 0, "streams", "a"), 7, "$.observations[0].streams.a"),
        (("observations", 0, "streams", "a"), [[-1]], "$.observations[0].streams.a[0][0]"),
        (("observations", 1, "streams", "a"), [[True]], "$.observations[1].streams.a[0][0]"),
        (("observations", 1, "streams"), {"x": [[1]]}, "$.observations[1].streams"),
        (("fired", 0, "failure"), -1, "$.fired[0].failure"),
        (("fired", 0, "evidence"), 7, "$.fired[0].evidence"),
        (("message",), 7, "$.message"),
    ],
)
def test_malformed_observations_are_refused_with_their_path(path, value, where):
    with pytest.raises(Malformed) as refused:
        decode_observations(changed(path, value))
    assert str(refused.value).startswith(f"{where}: found")


@pytest.mark.parametrize(
    ("path", "value", "found"),
    [
        (("case",), "0" * 64, "000"),
        (("fired", 0, "failure"), 1, "1"),
        (("observations",), [{"streams": {"a": [[1]]}}], "nothing of x"),
        (("observations",), [{"streams": {"x": [[1]], "y": []}}], "'y'"),
    ],
)
def test_rejects_observations_that_do_not_fit_the_case(path, value, found):
    with pytest.raises(Malformed) as refused:
        decode_observations(changed(path, value)).check_fit(CASE, digest(CASE))
    assert found in refused.value.found


@pytest.mark.parametrize("wrong", [-1, True, "2", 1.5])
@pytest.mark.parametrize(("name", "what"), [("overlapped", "epochs"), ("in_flight", "bytes")])
def test_counters_are_numbers_or_absent(wrong, name, what):
    assert getattr(decode_observations(VALID), name) is None
    assert encode_observations(decode_observations(VALID | {name: 2}))[name] == 2
    with pytest.raises(Malformed, match=f"a number of {what}"):
        decode_observations(VALID | {name: wrong})


def test_own_epochs_need_every_source():
    seen = decode_observations(changed(("observations",), [{"streams": {"x": [[1]]}}]) | {"epochs": "own"})
    with pytest.raises(Malformed, match="nothing of a; expected every source"):
        seen.check_fit(CASE, digest(CASE))


@given(anything)
def test_any_json_is_accepted_or_refused(value):
    with pytest.raises(Malformed):
        decode_observations(value)


def test_any_change_is_accepted_or_refused():
    for path in places(VALID):
        for value in (None, True, -1, 1.5, "x", [], {}, [[]], {"a": 1}, [None]):
            if path:
                try:
                    decode_observations(parse(json.dumps(changed(path, value))))
                except Malformed as refused:
                    assert str(refused).isprintable()
