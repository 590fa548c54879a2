"""
The messages of the stdio protocol `conformance-engine/1`, which an engine in any language can speak.

Requests have more fields than the protocol's first page lists, so an engine may ignore fields that it does not know.
Answers are read as strictly as a file.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

from attrs import evolve, frozen

from conformance.case import FAILURES, PHASES, TARGETS
from conformance.codec.cases import decode_case, encode_case
from conformance.codec.observations import WHERE_KNOWN, decode_observation, encode_observation
from conformance.codec.strict import fields_of, given_fields, identity, list_of, mapping
from conformance.engine import Capabilities, Description, RunRequest
from conformance.errors import EngineUnavailable, Malformed, UnknownEngine, inside, quote
from conformance.observation import ENDS, End, EngineInfo, Fired, Observation, Observations
from conformance.programs import PROGRAMS

PROTOCOL = 1
"""The newest version that we speak. We speak all before it, too."""

START: dict[str, Any] = {"do": "start", "protocol": PROTOCOL}
STOP: dict[str, Any] = {"do": "stop"}

KILLS = [f"kill:{target}" for target in TARGETS] + [f"kill:{target}:{phase}" for target in TARGETS for phase in PHASES]


@frozen
class ObservationAnswer:
    """An observation of case `id`."""

    id: int
    observation: Observation


@frozen
class FiredAnswer:
    """A failure of case `id` has fired."""

    id: int
    fired: int
    evidence: str = ""
    t: float | None = None


@frozen
class EndAnswer:
    """The run of case `id` has ended."""

    id: int
    end: End
    message: str | None = None
    log: tuple[Any, ...] = ()
    overlapped: int | None = None
    in_flight: int | None = None
    place: str | None = None


Answer: TypeAlias = ObservationAnswer | FiredAnswer | EndAnswer


def encode_run(id_: int, request: RunRequest) -> dict[str, Any]:
    """Encode a run request: a case, the streams to observe, the deadline and the seed."""
    return {
        "do": "run",
        "id": id_,
        "case": encode_case(request.case),
        "streams": sorted(request.streams),
        "seconds": request.seconds,
        "seed": request.seed,
    }


def encode_batch(runs: Sequence[tuple[int, RunRequest]]) -> dict[str, Any]:
    """Encode several run requests in one message, for an engine whose description says `batch`."""
    return {"do": "batch", "runs": [{**encode_run(id_, request)} for id_, request in runs]}


def decode_run(value: object) -> tuple[int, RunRequest]:
    """Decode a run request, as `encode_run` makes it, and its id."""
    fields = fields_of(value, required=("do", "id", "case"), optional=("streams", "seconds", "seed"))
    with inside("case"):
        request = RunRequest(decode_case(fields["case"]))
    given: dict[str, Any] = {name: fields[name] for name in ("seconds", "seed") if name in fields}
    if "streams" in fields:
        given["streams"] = frozenset(list_of(identity, fields["streams"]))
    return fields["id"], evolve(request, **given)


def decode_description(value: object) -> Description:
    """
    Decode the answer to `start`; an engine that cannot run here says so instead, and what would help.

    Holds are supported only if the answer says so: an adapter that implements the first page of the protocol does not
    know of them.
    """
    refusal = mapping(value)
    if isinstance(why := refusal.get("unavailable"), str):
        raise EngineUnavailable(why)
    if isinstance(why := refusal.get("unknown"), str):
        raise UnknownEngine(why)
    _check_protocol(refusal.get("protocol", 1))
    claims = ("epochs", "atomic", "snapshots")
    can = ("failures", "programs", "holds", "most_tasks", "most_events", "branches", "batch")
    fields = fields_of(value, required=("engine",), optional=("protocol", "remarks", *claims, *can))
    with inside("engine"):
        info = EngineInfo(**fields_of(fields["engine"], required=("name",), optional=("version", "settings")))
    capabilities = Capabilities(
        failures=_known("failures", fields.get("failures", []), (*FAILURES, *KILLS)),
        programs=_known("programs", fields.get("programs", list(PROGRAMS)), tuple(PROGRAMS)),
        holds=fields.get("holds", False),
        most_tasks=_count("most_tasks", fields),
        most_events=_count("most_events", fields),
        branches=fields.get("branches", False),
    )
    for name in ("holds", "branches"):
        if not isinstance(said := getattr(capabilities, name), bool):
            raise Malformed(quote(said), "true or false", path=(name,))
    claimed = {name: fields[name] for name in claims if name in fields}
    Observations("", (), **claimed)  # A claim that no observations can have is refused here, once.
    return Description(info, capabilities, **claimed, batch=_count("batch", fields) or 1)


def decode_remarks(value: object) -> tuple[str, ...]:
    """Decode the remarks for the user in the answer to `start`. They are no part of the engine's identity."""
    with inside("remarks"):
        remarks = list_of(identity, mapping(value).get("remarks", []))
        for index, remark in enumerate(remarks):
            if not isinstance(remark, str):
                raise Malformed(quote(remark), "a line for the user", path=(index,))
    return remarks


def encode_remarks(remarks: Sequence[str]) -> dict[str, Any]:
    """Encode remarks for the user, as a part of the answer to `start`; nothing, if there are none."""
    return {"remarks": list(remarks)} if remarks else {}


def _check_protocol(spoken: object) -> None:
    """Check the version before anything else: an answer in an unknown protocol may have any fields."""
    if type(spoken) is not int or spoken < 1:
        raise Malformed(quote(spoken), "the number of a protocol, from 1", path=("protocol",))
    if spoken > PROTOCOL:
        raise EngineUnavailable(
            f"it answers in protocol {spoken}, and the newest that was offered is {PROTOCOL}: "
            f"install a newer dataflow-conformance, or have the adapter answer in protocol {PROTOCOL}"
        )


def _known(name: str, value: object, known: tuple[str, ...]) -> frozenset[str]:
    with inside(name):
        given = list_of(identity, value)
        for index, each in enumerate(given):
            if not isinstance(each, str) or each not in known:
                raise Malformed(quote(each), "one of " + ", ".join(known), path=(index,))
    return frozenset(given)


def _count(name: str, fields: dict[str, Any]) -> int | None:
    value = fields.get(name)
    if value is not None and (type(value) is not int or value < 1):
        raise Malformed(quote(value), "a number from 1", path=(name,))
    return value


def encode_description(description: Description) -> dict[str, Any]:
    """Encode the answer to `start`, in full."""
    can = description.capabilities
    bounds = {"most_tasks": can.most_tasks, "most_events": can.most_events}
    return {
        "engine": given_fields(description.info),
        "epochs": description.epochs,
        "atomic": description.atomic,
        "snapshots": description.snapshots,
        "failures": sorted(can.failures),
        "programs": sorted(can.programs),
        "holds": can.holds,
        "branches": can.branches,
        "batch": description.batch,
        **{name: bound for name, bound in bounds.items() if bound is not None},
    }


def decode_answer(value: object) -> Answer:
    """Decode one line of an engine that is running cases."""
    fields = mapping(value)
    id_ = fields.pop("id", None)
    if type(id_) is not int:
        raise Malformed(quote(id_) if id_ is not None else "no id", "the id of a case it was given", path=("id",))
    if "streams" in fields:
        return ObservationAnswer(id_, decode_observation(fields))
    if "fired" in fields:
        found = Fired(fields.pop("fired"), 0, **fields_of(fields, required=(), optional=("evidence", "t")))
        return FiredAnswer(id_, found.failure, found.evidence, found.t)
    given = fields_of(fields, required=("end",), optional=("log", *WHERE_KNOWN))
    if given["end"] not in ENDS:
        raise Malformed(quote(given["end"]), "one of " + ", ".join(ENDS), path=("end",))
    with inside("log"):
        given["log"] = list_of(identity, given.get("log", []))
    return EndAnswer(id_, **given)


def encode_answers(id_: int, seen: Observations) -> list[dict[str, Any]]:
    """Encode observations as the lines an engine would have printed, in their order."""
    lines: list[dict[str, Any]] = []
    waiting = sorted(seen.fired, key=lambda fired: fired.before)
    for index, observation in enumerate(seen.observations):
        while waiting and waiting[0].before <= index:
            lines.append(_encode_fired(waiting.pop(0)))
        lines.append(encode_observation(observation))
    lines += [_encode_fired(fired) for fired in waiting]
    end = {"end": seen.end, "log": list(seen.log) or None} | {name: getattr(seen, name) for name in WHERE_KNOWN}
    lines.append({name: value for name, value in end.items() if value is not None})
    return [{"id": id_, **line} for line in lines]


def _encode_fired(fired: Fired) -> dict[str, Any]:
    encoded = given_fields(fired)
    del encoded["before"]
    return {"fired": encoded.pop("failure"), **encoded}
