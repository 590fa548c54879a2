"""Case files: what is accepted, what is refused, and with which message."""

import copy
import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.case import Case, Crash, Graph, Hold, Kill, Partition, Restart, Task
from conformance.codec import decode_case, digest, encode_case, parse, read_case
from conformance.errors import ConformanceError, Malformed, Unreadable
from conformance.programs import Digest, Sum
from tests.small import cases

VALID = {
    "format": "conformance-case/1",
    "name": "diamond",
    "graph": {
        "sources": ["a", "b"],
        "tasks": [
            {"name": "t", "inputs": ["a"], "output": "x", "program": {"op": "map", "mul": 2, "add": 1}},
            {"name": "u", "inputs": ["x", "b"], "output": "y", "program": {"op": "digest"}},
        ],
    },
    "inputs": {"a": [[1, 2], []], "b": [["reset"], [0, 2147483646]]},
    "failures": [
        {"kind": "crash", "task": "t", "epoch": 1, "event": 0},
        {"kind": "crash", "task": "u", "epoch": 2, "event": "border"},
        {"kind": "kill", "target": "worker", "epoch": 1},
        {"kind": "kill", "target": "coordinator", "epoch": 2, "phase": "commit"},
        {"kind": "restart", "epoch": 1},
        {"kind": "partition", "target": "worker", "epoch": 1, "seconds": 0.5},
    ],
    "holds": [{"task": "t", "epoch": 1}],
}


def changed(path, value):
    """VALID with another value at a path; `...` removes what is there."""
    document = copy.deepcopy(VALID)
    *way, key = path
    holder = document
    for part in way:
        holder = holder[part]
    if value is ...:
        del holder[key]
    else:
        holder[key] = value
    return document


def test_accepts_every_part_of_the_format():
    case = decode_case(VALID)
    assert case.graph.streams == ("a", "b", "x", "y")
    assert case.graph.sinks == ("y",)
    assert case.epochs == 2
    assert case.failures == (
        Crash("t", 1, 0),
        Crash("u", 2, "border"),
        Kill("worker", 1),
        Kill("coordinator", 2, "commit"),
        Restart(1),
        Partition("worker", 1, 0.5),
    )
    assert case.holds == (Hold("t", 1),)
    assert encode_case(case) == VALID


def test_accepts_a_case_without_failures_and_holds():
    bare = {key: value for key, value in VALID.items() if key not in {"failures", "holds", "name"}}
    case = decode_case(bare)
    assert (case.failures, case.holds) == ((), ())


REFUSED = [
    # path of the change, new value, path in the error, a word of what was found, a word of what was expected
    (("format",), "conformance-case/2", "$.format", "conformance-case/2", "conformance-case/1"),
    (("format",), ..., "$", "no field format", "format"),
    (("graph",), [], "$.graph", "a list", "an object"),
    (("extra",), 1, "$.extra", "unknown field", "graph"),
    (("name",), 7, "$.name", "7", "string"),
    (("name",), "", "$.name", "''", "string"),
    (("graph", "sources"), "a", "$.graph.sources", "'a'", "list"),
    (("graph", "sources"), [], "$.graph.sources", "0", "1 to"),
    (("graph", "sources"), ["a", "a"], "$.graph.sources[1]", "second time", "distinct"),
    (("graph", "sources", 0), "A", "$.graph.sources[0]", "'A'", "[a-z]"),
    (("graph", "sources", 0), "a\n", "$.graph.sources[0]", "'a\\n'", "[a-z]"),
    (("graph", "sources", 0), "é", "$.graph.sources[0]", "'\\xe9'", "[a-z]"),
    (("graph", "sources", 0), "a" * 33, "$.graph.sources[0]", "aaa", "{0,31}"),
    (("graph", "sources"), ["a", "b", "c"], "$.graph.sources[2]", "no task reads", "reader"),
    (("graph", "tasks"), [], "$.graph.tasks", "0", "1 to"),
    (("graph", "tasks"), {}, "$.graph.tasks", "object", "list"),
    (("graph", "tasks", 0), 3, "$.graph.tasks[0]", "3", "object"),
    (("graph", "tasks", 0, "inputs"), [], "$.graph.tasks[0].inputs", "0", "1 to"),
    (("graph", "tasks", 0, "inputs"), ["a", "a"], "$.graph.tasks[0].inputs[1]", "second time", "distinct"),
    (("graph", "tasks", 0, "inputs"), ["nowhere", "a"], "$.graph.tasks[0].inputs[0]", "nothing produces", "source"),
    (("graph", "tasks", 0, "inputs"), ["a", "y"], "$.graph.tasks", "cycle", "acyclic"),
    (("graph", "tasks", 0, "inputs"), ["a", "x"], "$.graph.tasks", "cycle", "acyclic"),
    (("graph", "tasks", 0, "output"), "b", "$.graph.tasks[0].output", "already produces", "of its own"),
    (("graph", "tasks", 1, "output"), "x", "$.graph.tasks[1].output", "task t already produces", "of its own"),
    (("graph", "tasks", 1, "name"), "t", "$.graph.tasks[1].name", "second time", "distinct"),
    (("graph", "tasks", 1, "name"), None, "$.graph.tasks[1].name", "null", "[a-z]"),
    (("graph", "tasks", 1, "colour"), "red", "$.graph.tasks[1].colour", "unknown", "program"),
    (("graph", "tasks", 1, "program"), ..., "$.graph.tasks[1]", "no field program", "program"),
    (("graph", "tasks", 1, "program"), "digest", "$.graph.tasks[1].program", "'digest'", "object"),
    (("graph", "tasks", 1, "program"), {}, "$.graph.tasks[1].program.op", "no op", "digest"),
    (("graph", "tasks", 1, "program", "op"), "eval", "$.graph.tasks[1].program.op", "'eval'", "one of map"),
    (("graph", "tasks", 1, "program", "op"), ["map"], "$.graph.tasks[1].program.op", "list", "one of map"),
    (("graph", "tasks", 1, "program", "seed"), 7, "$.graph.tasks[1].program.seed", "unknown", "no fields"),
    (("graph", "tasks", 0, "program", "mul"), ..., "$.graph.tasks[0].program", "no field mul", "mul, add"),
    (("graph", "tasks", 0, "program", "mul"), True, "$.graph.tasks[0].program.mul", "true", "integer"),
    (("graph", "tasks", 0, "program", "mul"), 2.0, "$.graph.tasks[0].program.mul", "2.0", "integer"),
    (("inputs",), None, "$.inputs", "null", "object"),
    (("inputs", "c"), [[], []], "$.inputs", "'c'", "sources only"),
    (("inputs", "x"), [[], []], "$.inputs", "'x'", "sources only"),
    (("inputs", "a"), ..., "$.inputs", "no input for a", "every source"),
    (("inputs", "a"), [], "$.inputs.a", "0", "1 to"),
    (("inputs", "b"), [[]], "$.inputs.b", "1 epochs", "2, as for a"),
    (("inputs", "a", 0), 5, "$.inputs.a[0]", "5", "list of events"),
    (("inputs", "a", 0, 1), -1, "$.inputs.a[0][1]", "-1", "integer from 0"),
    (("inputs", "a", 0, 1), 2147483647, "$.inputs.a[0][1]", "2147483647", "2147483646"),
    (("inputs", "a", 0, 1), 1.5, "$.inputs.a[0][1]", "1.5", "integer"),
    (("inputs", "a", 0, 1), True, "$.inputs.a[0][1]", "true", "integer"),
    (("inputs", "a", 0, 1), None, "$.inputs.a[0][1]", "null", "integer"),
    (("inputs", "a", 0, 1), [1], "$.inputs.a[0][1]", "list", "integer"),
    (("inputs", "a", 0, 1), "x" * 65, "$.inputs.a[0][1]", "65 characters", "64"),
    (("inputs", "a", 0, 1), "\ud800", "$.inputs.a[0][1]", "surrogate", "Unicode"),
    (("failures",), {}, "$.failures", "object", "list"),
    (("failures", 0, "kind"), "meteor", "$.failures[0].kind", "'meteor'", "crash, kill"),
    (("failures", 0, "task"), "v", "$.failures[0].task", "'v'", "t, u"),
    (("failures", 0, "epoch"), 0, "$.failures[0].epoch", "0", "1 to 2"),
    (("failures", 0, "epoch"), 3, "$.failures[0].epoch", "3", "1 to 2"),
    (("failures", 0, "epoch"), True, "$.failures[0].epoch", "true", "1 to 2"),
    (("failures", 0, "event"), -1, "$.failures[0].event", "-1", "border"),
    (("failures", 0, "event"), "first", "$.failures[0].event", "'first'", "border"),
    (("failures", 0, "phase"), "commit", "$.failures[0].phase", "unknown", "event"),
    (("failures", 2, "target"), "driver", "$.failures[2].target", "'driver'", "coordinator"),
    (("failures", 3, "phase"), "later", "$.failures[3].phase", "'later'", "snapshot"),
    (("failures", 4, "task"), "t", "$.failures[4].task", "unknown", "epoch"),
    (("failures", 5, "target"), "coordinator", "$.failures[5].target", "'coordinator'", "worker"),
    (("failures", 5, "seconds"), 0, "$.failures[5].seconds", "0", "positive"),
    (("failures", 5, "seconds"), "1", "$.failures[5].seconds", "'1'", "positive"),
    (("holds", 0, "task"), "v", "$.holds[0].task", "'v'", "t, u"),
    (("holds", 0, "epoch"), 9, "$.holds[0].epoch", "9", "1 to 2"),
    (("holds", 0), 9, "$.holds[0]", "9", "object"),
]


@pytest.mark.parametrize(("path", "value", "where", "found", "expected"), REFUSED)
def test_a_malformed_case_is_refused_with_path_found_and_expected(path, value, where, found, expected):
    with pytest.raises(Malformed) as refused:
        decode_case(changed(path, value))
    message = str(refused.value)
    assert message.startswith(f"{where}: found ")
    assert found in refused.value.found
    assert expected in refused.value.expected


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "an empty file"),
        ("{", "line 1"),
        ('{"a": 1, "a": 2}', "the key 'a' twice"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 50_000, "nested too deeply"),
        ("NaN", "nan"),
        ("9" * 5000, "integer of 5000 digits"),
        ("9" * 300, "bits"),
        ("null", "null"),
        ("\ufeff{}", "line 1"),
    ],
)
def test_rejects_json_that_is_no_case(text, found):
    with pytest.raises(Malformed, match="found") as refused:
        decode_case(parse(text))
    assert found in refused.value.found


def test_a_key_twice_is_refused_where_it_stands():
    text = json.dumps(VALID).replace('"op": "digest"', '"op": "digest", "op": "digest"')
    with pytest.raises(Malformed, match=r"^\$\.graph\.tasks\[1\]\.program: found the key 'op' twice"):
        decode_case(parse(text))


def test_a_huge_graph_is_refused():
    with pytest.raises(Malformed, match="expected 1 to"):
        decode_case(changed(("graph", "tasks"), VALID["graph"]["tasks"][:1] * 10_001))


def test_a_long_chain_is_checked_without_recursion():
    tasks = tuple(Task(f"t{n}", (f"x{n}",), f"x{n + 1}", Sum()) for n in range(5000))
    assert len(Graph(("x0",), tasks).in_order) == 5000


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(Unreadable, match=r"missing\.json: No such file"):
        read_case(tmp_path / "missing.json")
    with pytest.raises(Unreadable, match="directory"):
        read_case(tmp_path)
    with pytest.raises(Unreadable, match="null"):
        read_case(tmp_path / "a\0b")
    binary = tmp_path / "binary.json"
    binary.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(Unreadable, match=r"binary.json: byte 7 is not UTF-8"):
        read_case(binary)


def test_a_refusal_names_the_file(tmp_path):
    file = tmp_path / "case.json"
    file.write_text(json.dumps(changed(("inputs", "a", 0, 1), -1)))
    with pytest.raises(Malformed) as refused:
        read_case(file)
    assert str(refused.value).startswith(f"{file}: $.inputs.a[0][1]: found -1; expected an integer from 0")


def test_the_digest_is_that_of_the_canonical_json_without_name_and_format():
    rest = {key: value for key, value in VALID.items() if key not in {"name", "format"}}
    canonical = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    assert digest(decode_case(VALID)) == hashlib.sha256(canonical.encode()).hexdigest()
    renamed = changed(("name",), "other")
    assert digest(decode_case(renamed)) == digest(decode_case(VALID))


def test_the_digest_has_failures_always_and_holds_only_if_any():
    case = Case(Graph(("a",), (Task("t", ("a",), "x", Digest()),)), {"a": ((1,),)})
    canonical = (
        '{"failures":[],"graph":{"sources":["a"],"tasks":[{"inputs":["a"],"name":"t","output":"x",'
        '"program":{"op":"digest"}}]},"inputs":{"a":[[1]]}}'
    )
    assert digest(case) == hashlib.sha256(canonical.encode()).hexdigest()


@given(cases(failures=True))
def test_a_written_case_can_be_read(case):
    again = decode_case(parse(json.dumps(encode_case(case))))
    assert again == case
    assert digest(again) == digest(case)


anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


@given(anything)
def test_any_json_is_accepted_or_refused(value):
    with pytest.raises(ConformanceError):
        decode_case(value)


@given(st.sampled_from([path for path in places(VALID) if path]), anything)
def test_any_change_is_accepted_or_refused(path, value):
    try:
        case = decode_case(changed(path, value))
    except Malformed as refused:
        assert str(refused)
        assert len(str(refused)) < 2000
    else:
        assert decode_case(encode_case(case)) == case


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda raw: raw.decode("latin-1")))
def test_any_text_is_parsed_or_refused(text):
    try:
        parse(text)
    except Malformed as refused:
        assert str(refused).isprintable()


@given(st.integers(0, len(json.dumps(VALID)) - 1), st.characters())
def test_one_wrong_character_is_accepted_or_refused(position, character):
    text = json.dumps(VALID)
    try:
        decode_case(parse(text[:position] + character + text[position + 1 :]))
    except Malformed as refused:
        assert str(refused).isprintable()
