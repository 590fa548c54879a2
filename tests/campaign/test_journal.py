"""The journal: complete lines are read, an incomplete last line is overwritten."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.campaign import events
from conformance.campaign.journal import Journal, decode_event, encode_event, read_events
from conformance.engine import Capabilities, Description
from conformance.errors import Malformed, Unreadable
from conformance.judge.verdict import Finding
from conformance.observation import EngineInfo

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
RATES = st.builds(events.FailureRate, st.integers(0, 20), st.integers(1, 20))
SIZES = st.builds(events.CaseSize, *[st.integers(0, 9)] * 4)
FINDINGS = st.lists(
    st.builds(
        Finding,
        st.sampled_from([diagnosis for each in events.GUARANTEES.values() for diagnosis in each]),
        TEXT,
        st.none() | st.integers(0, 9),
        st.none() | TEXT,
        st.none() | st.integers(1, 9),
        st.none() | st.integers(0, 9),
        st.lists(st.integers(0, 9) | TEXT, max_size=3).map(tuple),
    ),
    max_size=2,
).map(tuple)
OUTCOMES = st.sampled_from(["conforms", "violates", "inconclusive", "not exercised", "unsupported", "error"])
VERDICTS = st.sampled_from(["conforms", "violates", "inconclusive"])
NUMBERS = st.integers(0, 99)
EVENTS = st.one_of(
    st.builds(events.Judged, NUMBERS, TEXT, TEXT, OUTCOMES, TEXT, st.booleans(), NUMBERS, NUMBERS, TEXT, FINDINGS),
    st.builds(
        events.Examined,
        NUMBERS,
        RATES,
        VERDICTS,
        st.none() | OUTCOMES,
        st.none() | RATES,
        st.sampled_from([None, True, False]),
    ),
    st.builds(
        events.Shrunk,
        st.sampled_from(list(events.GUARANTEES)),
        NUMBERS,
        *[TEXT] * 3,
        RATES,
        st.booleans(),
        SIZES,
        SIZES,
        NUMBERS,
        FINDINGS,
    ),
    st.builds(events.GaveUp, TEXT),
    st.builds(events.Measured, NUMBERS, NUMBERS, st.lists(TEXT).map(tuple)),
    st.just(events.CampaignEnded()),
)


def began(**changed):
    fields = {
        "engine": "reference",
        "description": Description(EngineInfo("reference", "1", {"deep": [1, {"a": None}]})),
        "capabilities": Capabilities(failures=["crash"], most_tasks=3),
        "profile": "quick",
        "cases": 1,
        "seed": 0,
        "deadline": 60.0,
        "shrink_runs": 1,
        "shrink_seconds": 1.0,
        **dict.fromkeys(("suite", "hypothesis", "python", "system", "machine", "date"), "x"),
    }
    return events.Began(**(fields | changed))


@given(EVENTS)
def test_an_event_is_read_as_it_was_written(event):
    assert decode_event(json.loads(json.dumps(encode_event(event)))) == event


def test_the_first_event_is_read_as_it_was_written():
    assert decode_event(json.loads(json.dumps(encode_event(began())))) == began()


@given(st.lists(EVENTS, max_size=4), EVENTS, st.data())
def test_an_incomplete_last_line_is_overwritten(tmp_path_factory, whole, last, data):
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    with Journal(path) as journal:
        for event in whole:
            journal.write(event)
    line = json.dumps(encode_event(last)).encode() + b"\n"
    cut = data.draw(st.integers(0, len(line) - 1))
    with path.open("ab") as file:
        file.write(line[:cut])
    assert read_events(path) == whole
    with Journal(path) as journal:
        assert journal.events == whole
        journal.write(last)
    assert read_events(path) == [*whole, last]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{}", r"\$.event: found no event; expected one of began, judged"),
        (b"[]", "found a list of 0; expected an object"),
        (b'{"event": 7}', r"\$.event: found 7; expected one of began"),
        (b'{"event": "ended", "x": 1}', r"\$.x: found an unknown field"),
        (b'{"event": "gaveup"}', "found no field because"),
        (b'{"event": "gaveup", "because": 1}', r"\$.because: found 1; expected a string"),
        (b'{"event": "gaveup", "because": "", "because": ""}', "the key 'because' twice"),
        (b'{"event": "measured", "cases": true, "killed": 0, "survived": []}', r"\$.cases: found true"),
        (b'{"event": "measured", "cases": 1, "killed": 0, "survived": [1]}', r"\$.survived\[0\]: found 1"),
        (b"nonsense", "a syntax error"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_a_malformed_line_is_refused_with_its_number_and_path(tmp_path, line, said):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(json.dumps(encode_event(events.CampaignEnded())).encode() + b"\n" + line + b"\n")
    with pytest.raises(Malformed, match=said) as refused:
        read_events(path)
    assert str(refused.value).startswith(f"{path}, line 2: ")


def test_a_nested_field_is_refused_with_its_path():
    value = encode_event(began())
    value["description"]["info"]["name"] = None
    with pytest.raises(Malformed, match=r"\$.description.info.name: found null; expected a string"):
        decode_event(value)


def test_a_whole_number_of_seconds_is_read_as_a_float():
    deadline = decode_event(encode_event(began()) | {"deadline": 60}).deadline
    assert type(deadline) is float


def test_a_missing_journal_is_unreadable(tmp_path):
    with pytest.raises(Unreadable, match="No such file"):
        read_events(tmp_path / "journal.jsonl")
