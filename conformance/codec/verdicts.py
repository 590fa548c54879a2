"""Verdicts and traces as JSON."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from conformance.case import Graph
from conformance.codec.strict import given_fields, list_of
from conformance.errors import Malformed, inside, quote
from conformance.judge.verdict import Conforms, Inconclusive, Verdict, Violates
from conformance.model.configuration import RECOVER, Rule, Step, Trace


def encode_verdict(verdict: Verdict) -> dict[str, Any]:
    """Encode a verdict as JSON."""
    match verdict:
        case Conforms(witness=None):
            return {"verdict": "conforms", "epochs": verdict.epochs}
        case Conforms(witness=witness):
            return {
                "verdict": "conforms",
                "witness": encode_trace(witness or ()),
                "at": list(verdict.at),
                "epochs": verdict.epochs,
            }
        case Violates():
            findings = [given_fields(finding) for finding in verdict.findings]
            return {"verdict": "violates", "guarantee": verdict.guarantee, "findings": findings}
        case Inconclusive():
            return {"verdict": "inconclusive", "because": verdict.because}


def encode_trace(trace: Iterable[Step]) -> list[list[str]]:
    """Encode a trace as JSON: the rule of each step, its task and its stream, as far as it has them."""
    return [[part for part in (step.rule.value, step.task, step.stream) if part] for step in trace]


def decode_trace(value: object, graph: Graph) -> Trace:
    """
    Decode a trace over a graph from JSON: a list of steps, or the output of `model run --json`, which has one.

    Whether the steps apply is decided by the model, not here.
    """
    if isinstance(value, dict) and "trace" in value:
        with inside("trace"):
            return decode_trace(value["trace"], graph)
    inputs = {task.name: task.inputs for task in graph.tasks}
    return list_of(lambda step: _decode_step(step, inputs), value)


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
