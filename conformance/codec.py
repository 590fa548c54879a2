"""
The only module that knows our JSON.

Values refuse themselves (see `case`), so reading is thin: text to JSON strictly, JSON to values by their
fields, and every refusal carries the file and the JSON path.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import attrs

from conformance.case import FAILURES, Case, Failure, Graph, Hold, Task
from conformance.errors import Malformed, Unreadable, inside, quote
from conformance.judge.verdict import Conforms, Inconclusive, Verdict, Violates
from conformance.model.configuration import RECOVER, Rule, Step, Trace
from conformance.observation import EngineInfo, Fired, Observation, Observations
from conformance.programs import PROGRAMS, Program

CASE_FORMAT = "conformance-case/1"

LARGEST_FILE = 64 * 2**20
LONGEST_INTEGER = 400
"""Digits. Python refuses to read more than 4,300, with an error of its own."""

T = TypeVar("T")


def read_case(path: Path) -> Case:
    """A case file, validated whole."""
    return read(path, decode_case)


def read(path: Path, decode: Callable[[Any], T]) -> T:
    """A JSON file through `decode`; what is refused names the file."""
    try:
        return decode(parse(_text(path)))
    except Malformed as refused:
        refused.file = str(path)
        raise


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        because = getattr(error, "strerror", None) or str(error)
        raise Unreadable(str(path), because, "Give the path of a JSON file.") from None
    if len(raw) > LARGEST_FILE:
        raise Unreadable(str(path), f"it is larger than {LARGEST_FILE >> 20} MiB", "Split it into smaller ones.")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(str(path), f"byte {error.start} is not UTF-8", "Save it as UTF-8 JSON.") from None


class _Ambiguous(dict[str, Any]):
    """An object with a key twice: refused by whoever reads its fields, who knows where it stands."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        keys = [key for key, _ in pairs]
        self.twice = next(key for key in keys if keys.count(key) > 1)


class _Endless:
    """An integer too long to read: no field accepts it, and this is how the refusal shows it."""

    def __init__(self, digits: str) -> None:
        self.digits = len(digits)

    def __repr__(self) -> str:
        return f"an integer of {self.digits} digits"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    return value if len(value) == len(pairs) else _Ambiguous(pairs)


def _integer(digits: str) -> int | _Endless:
    return int(digits) if len(digits) <= LONGEST_INTEGER else _Endless(digits)


def parse(text: str) -> Any:
    """JSON text to plain values. What only the place can refuse (a key twice, an endless integer) is left marked."""
    try:
        return json.loads(text, object_pairs_hook=_object, parse_int=_integer)
    except json.JSONDecodeError as error:
        found = f"a syntax error at line {error.lineno}, column {error.colno} ({error.msg.lower()})"
        raise Malformed(found if text.strip() else "an empty file", "JSON") from None
    except RecursionError:
        raise Malformed("values nested too deeply to read", "a shallow document") from None


def decode_case(value: object) -> Case:
    """JSON to a case."""
    _check_format(value, CASE_FORMAT)
    fields = _fields(value, required=("format", "graph", "inputs"), optional=("name", "failures", "holds"))
    del fields["format"]
    with inside("graph"):
        fields["graph"] = _decode_graph(fields["graph"])
    with inside("inputs"):
        fields["inputs"] = _decode_inputs(fields["inputs"])
    with inside("failures"):
        fields["failures"] = _list_of(_decode_failure, fields.get("failures", []))
    with inside("holds"):
        fields["holds"] = _list_of(_decode_hold, fields.get("holds", []))
    return Case(**fields)


def _check_format(value: object, wanted: str) -> None:
    """The format first: who gives the wrong file learns that, and not which field of it is unknown."""
    form = _mapping(value).get("format", wanted)
    if form != wanted:
        raise Malformed(quote(form), f'"{wanted}"', path=("format",))


def _decode_graph(value: object) -> Graph:
    fields = _fields(value, required=("sources", "tasks"))
    with inside("sources"):
        fields["sources"] = _list_of(_itself, fields["sources"])
    with inside("tasks"):
        fields["tasks"] = _list_of(_decode_task, fields["tasks"])
    return Graph(**fields)


def _decode_task(value: object) -> Task:
    fields = _fields(value, required=("name", "inputs", "output", "program"))
    with inside("inputs"):
        fields["inputs"] = _list_of(_itself, fields["inputs"])
    with inside("program"):
        fields["program"] = _tagged(fields["program"], "op", PROGRAMS)
    return Task(**fields)


def _decode_inputs(value: object) -> dict[str, Any]:
    inputs = _mapping(value)
    for source, epochs in inputs.items():
        with inside(source):
            inputs[source] = _list_of(_tuple_if_list, epochs)
    return inputs


def _decode_failure(value: object) -> Failure:
    return _tagged(value, "kind", FAILURES)


def _decode_hold(value: object) -> Hold:
    return Hold(**_fields(value, required=("task", "epoch")))


def _tagged(value: object, tag: str, classes: Mapping[str, type[T]]) -> T:
    """The class that `tag` names, from the other fields: programs by op, failures by kind."""
    fields = _mapping(value)
    name = fields.get(tag)
    if not isinstance(name, str) or name not in classes:
        found = quote(name) if tag in fields else f"no {tag}"
        raise Malformed(found, "one of " + ", ".join(classes), path=(tag,))
    kind: Any = classes[name]
    required = tuple(field.name for field in attrs.fields(kind) if field.default is attrs.NOTHING)
    optional = tuple(field.name for field in attrs.fields(kind) if field.default is not attrs.NOTHING)
    del fields[tag]
    return kind(**_fields(fields, required=required, optional=optional))  # type: ignore[no-any-return]


def _mapping(value: object) -> dict[str, Any]:
    if isinstance(value, _Ambiguous):
        raise Malformed(f"the key {quote(value.twice)} twice", "every key once")
    if not isinstance(value, dict):
        raise Malformed(quote(value), "an object")
    return dict(value)


def _fields(value: object, *, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    fields = _mapping(value)
    for key in fields:
        if key not in required and key not in optional:
            allowed = ", ".join(required + optional) or "no fields"
            raise Malformed("an unknown field", allowed, path=(key,))
    for key in required:
        if key not in fields:
            raise Malformed(f"no field {key}", f"the fields {', '.join(required)}")
    return fields


def _list_of(decode: Callable[[Any], T], value: object) -> tuple[T, ...]:
    if not isinstance(value, list):
        raise Malformed(quote(value), "a list")
    items = []
    for index, item in enumerate(value):
        try:
            items.append(decode(item))
        except Malformed as refused:
            refused.path = (index, *refused.path)
            raise
    return tuple(items)


def _itself(value: Any) -> Any:
    return value


def _tuple_if_list(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


OBSERVATIONS_FORMAT = "conformance-observations/1"


def read_observations(path: Path, case: Case) -> Observations:
    """An observations file, validated whole; refused if it is not of this case."""

    def of_this_case(value: object) -> Observations:
        seen = decode_observations(value)
        seen.fit(case, digest(case))
        return seen

    return read(path, of_this_case)


def decode_observations(value: object) -> Observations:
    """JSON to observations."""
    _check_format(value, OBSERVATIONS_FORMAT)
    optional = ("engine", "epochs", "atomic", "snapshots", "fired", "end", "message", "log")
    fields = _fields(value, required=("format", "case", "observations"), optional=optional)
    del fields["format"]
    with inside("engine"):
        fields["engine"] = EngineInfo(
            **_fields(fields.get("engine", {}), required=(), optional=("name", "version", "settings"))
        )
    with inside("observations"):
        fields["observations"] = _list_of(decode_observation, fields["observations"])
    with inside("fired"):
        fields["fired"] = _list_of(_decode_fired, fields.get("fired", []))
    with inside("log"):
        fields["log"] = _list_of(_itself, fields.get("log", []))
    return Observations(**fields)


def decode_observation(value: object) -> Observation:
    """JSON to one observation."""
    fields = _fields(value, required=("streams",), optional=("t",))
    with inside("streams"):
        fields["streams"] = _decode_inputs(fields["streams"])
    return Observation(**fields)


def _decode_fired(value: object) -> Fired:
    return Fired(**_fields(value, required=("failure", "before"), optional=("t", "evidence")))


def encode_observations(seen: Observations) -> dict[str, Any]:
    """Observations as JSON."""
    encoded = {
        "format": OBSERVATIONS_FORMAT,
        "case": seen.case,
        "engine": attrs.asdict(seen.engine),
        "epochs": seen.epochs,
        "atomic": seen.atomic,
        "snapshots": seen.snapshots,
        "observations": [{**_present(each), "streams": dict(each.streams)} for each in seen.observations],
        "fired": [_present(each) for each in seen.fired],
        "end": seen.end,
    }
    if seen.message is not None:
        encoded["message"] = seen.message
    if seen.log:
        encoded["log"] = list(seen.log)
    return encoded


def encode_case(case: Case) -> dict[str, Any]:
    """A case as JSON. `failures` is always there, `holds` only if there are any."""
    graph = {"sources": list(case.graph.sources), "tasks": [_encode_task(task) for task in case.graph.tasks]}
    encoded: dict[str, Any] = {
        "format": CASE_FORMAT,
        "name": case.name,
        "graph": graph,
        "inputs": {source: [list(epoch) for epoch in case.inputs[source]] for source in case.graph.sources},
        "failures": [{"kind": failure.kind, **_present(failure)} for failure in case.failures],
    }
    if case.holds:
        encoded["holds"] = [_present(hold) for hold in case.holds]
    return encoded


def write_case(path: Path, case: Case) -> None:
    """A case file, laid out for people: one line for each task and each field."""
    encoded = encode_case(case)
    tasks = ",\n".join(f"      {json.dumps(task)}" for task in encoded["graph"]["tasks"])
    graph = f'{{\n    "sources": {json.dumps(encoded["graph"]["sources"])},\n    "tasks": [\n{tasks}\n    ]\n  }}'
    fields = [f'  "{key}": {graph if key == "graph" else json.dumps(value)}' for key, value in encoded.items()]
    write_text(path, "{\n" + ",\n".join(fields) + "\n}\n")


def write_text(path: Path, text: str) -> None:
    """A file that is there whole or not at all."""
    unfinished = path.with_name(f".{path.name}.part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def _encode_task(task: Task) -> dict[str, Any]:
    program: Program[Any] = task.program
    return {
        "name": task.name,
        "inputs": list(task.inputs),
        "output": task.output,
        "program": {"op": program.op, **_present(program)},
    }


def _present(value: Any) -> dict[str, Any]:
    """The fields that say something: an optional one that was never given stays away, as in the file it came from."""
    return attrs.asdict(value, recurse=False, filter=lambda _, found: found is not None)


def digest(case: Case) -> str:
    """What identifies a case: the SHA-256 of its canonical JSON, without name and format."""
    encoded = encode_case(case)
    del encoded["name"], encoded["format"]
    canonical = json.dumps(encoded, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def encode_verdict(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON."""
    match verdict:
        case Conforms():
            return {
                "verdict": "conforms",
                "witness": encode_trace(verdict.witness),
                "at": list(verdict.at),
                "epochs": verdict.epochs,
            }
        case Violates():
            findings = [_present(finding) for finding in verdict.findings]
            return {"verdict": "violates", "guarantee": verdict.guarantee, "findings": findings}
        case Inconclusive():
            return {"verdict": "inconclusive", "because": verdict.because}


def encode_trace(trace: Iterable[Step]) -> list[list[str]]:
    """A trace as JSON: the rule of each step, its task and its stream, as far as it has them."""
    return [[part for part in (step.rule.value, step.task, step.stream) if part] for step in trace]


def decode_trace(value: object, graph: Graph) -> Trace:
    """
    JSON to a trace over a graph: a list of steps, or what `model run --json` prints, which has one.

    Whether the steps apply is for the model to say.
    """
    if isinstance(value, dict) and "trace" in value:
        with inside("trace"):
            return decode_trace(value["trace"], graph)
    inputs = {task.name: task.inputs for task in graph.tasks}
    return _list_of(lambda step: _decode_step(step, inputs), value)


def _decode_step(value: object, inputs: Mapping[str, tuple[str, ...]]) -> Step:
    match value:
        case ["recover"]:
            return RECOVER
        case ["event", str() as task, str() as stream] if task in inputs:
            if stream not in inputs[task]:
                raise Malformed(quote(stream), f"an input of {task}: {', '.join(inputs[task])}", path=(2,))
            return Step(Rule.EVENT, task, stream)
        case [("border" | "fail") as rule, str() as task] if task in inputs:
            return Step(Rule(rule), task)
        case [("event" | "border" | "fail"), str() as task, *_] if task not in inputs:
            raise Malformed(quote(task), "a task of the case", path=(1,))
    shapes = '["event", task, stream], ["border", task], ["fail", task] or ["recover"]'
    found = json.dumps(value) if isinstance(value, list) and all(isinstance(each, str) for each in value) else value
    raise Malformed(quote(found), shapes)
