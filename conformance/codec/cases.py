"""Cases as JSON, and the digest that identifies a case."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.case import FAILURES, Case, Failure, Graph, Hold, Task
from conformance.codec.strict import (
    check_format,
    fields_of,
    given_fields,
    identity,
    list_of,
    mapping,
    read,
    tagged,
    tuple_if_list,
    write_text,
)
from conformance.errors import Malformed, inside, quote
from conformance.programs import PROGRAMS, Event, Program

CASE_FORMAT = "conformance-case/1"


def read_case(path: Path) -> Case:
    """Read a case file and validate all of it."""
    return read(path, decode_case)


def decode_case(value: object) -> Case:
    """Decode a case from JSON."""
    check_format(value, CASE_FORMAT)
    fields = fields_of(value, required=("format", "graph", "inputs"), optional=("name", "failures", "holds"))
    del fields["format"]
    with inside("graph"):
        fields["graph"] = _decode_graph(fields["graph"])
    with inside("inputs"):
        refuse_dataset(fields["inputs"])
        fields["inputs"] = decode_epochs(fields["inputs"])
    with inside("failures"):
        fields["failures"] = list_of(_decode_failure, fields.get("failures", []))
    with inside("holds"):
        fields["holds"] = list_of(_decode_hold, fields.get("holds", []))
    return Case(**fields)


def is_dataset(value: object) -> bool:
    """Recognise a dataset. A source may be called `dataset`, too; what it has is a list."""
    return isinstance(value, dict) and isinstance(value.get("dataset"), str)


def refuse_dataset(value: object) -> None:
    """Refuse events that are in a dataset, which only `--on` reads."""
    if isinstance(value, dict) and is_dataset(value):
        raise Malformed(
            f"a dataset, {quote(value['dataset'])}",
            "events; only `conformance check --on MASTER` reads datasets",
            path=("dataset",),
        )


def _decode_graph(value: object) -> Graph:
    fields = fields_of(value, required=("sources", "tasks"))
    with inside("sources"):
        fields["sources"] = list_of(identity, fields["sources"])
    with inside("tasks"):
        fields["tasks"] = list_of(_decode_task, fields["tasks"])
    return Graph(**fields)


def _decode_task(value: object) -> Task:
    fields = fields_of(value, required=("name", "inputs", "output", "program"))
    with inside("inputs"):
        fields["inputs"] = list_of(identity, fields["inputs"])
    with inside("program"):
        fields["program"] = tagged(fields["program"], "op", PROGRAMS)
    return Task(**fields)


def decode_epochs(value: object) -> dict[str, Any]:
    """Decode the events of each epoch, by stream."""
    inputs = mapping(value)
    for source, epochs in inputs.items():
        with inside(source):
            inputs[source] = list_of(tuple_if_list, epochs)
    return inputs


def _decode_failure(value: object) -> Failure:
    return tagged(value, "kind", FAILURES)


def _decode_hold(value: object) -> Hold:
    return Hold(**fields_of(value, required=("task", "epoch")))


def encode_case(case: Case) -> dict[str, Any]:
    """Encode a case as JSON. `failures` is always there, `holds` only if there are any."""
    graph = {"sources": list(case.graph.sources), "tasks": [_encode_task(task) for task in case.graph.tasks]}
    encoded: dict[str, Any] = {
        "format": CASE_FORMAT,
        "name": case.name,
        "graph": graph,
        "inputs": {source: [list(epoch) for epoch in case.inputs[source]] for source in case.graph.sources},
        "failures": [{"kind": failure.kind, **given_fields(failure)} for failure in case.failures],
    }
    if case.holds:
        encoded["holds"] = [given_fields(hold) for hold in case.holds]
    return encoded


def write_case(path: Path, case: Case) -> None:
    """Write a case file, laid out for people: one line for each task and each field."""
    encoded = encode_case(case)
    tasks = ",\n".join(f"      {json.dumps(task)}" for task in encoded["graph"]["tasks"])
    graph = f'{{\n    "sources": {json.dumps(encoded["graph"]["sources"])},\n    "tasks": [\n{tasks}\n    ]\n  }}'
    fields = [f'  "{key}": {graph if key == "graph" else json.dumps(value)}' for key, value in encoded.items()]
    write_text(path, "{\n" + ",\n".join(fields) + "\n}\n")


def _encode_task(task: Task) -> dict[str, Any]:
    program: Program[Any] = task.program
    return {
        "name": task.name,
        "inputs": list(task.inputs),
        "output": task.output,
        "program": {"op": program.op, **given_fields(program)},
    }


def digest(case: Case, contents: Mapping[str, Sequence[str]] | None = None) -> str:
    """
    Compute what identifies a case: the SHA-256 of its canonical JSON, without name and format.

    For a case whose inputs are in a dataset, `contents` has for each source the hash of each epoch (see `content`),
    which stands for its events.
    """
    encoded = encode_case(case)
    del encoded["name"], encoded["format"]
    if contents is not None:
        encoded["inputs"] = {source: list(contents[source]) for source in case.graph.sources}
    return hashlib.sha256(canonical(encoded).encode("ascii")).hexdigest()


def content(events: Sequence[Event]) -> str:
    """Compute what identifies the events of one epoch of a source in a dataset: the SHA-256 of their list, as JSON."""
    return hashlib.sha256(canonical(list(events)).encode("ascii")).hexdigest()


def canonical(value: object) -> str:
    """Write a value as JSON in canonical form, which is what digests are computed from."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
