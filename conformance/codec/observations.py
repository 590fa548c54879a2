"""Observations as JSON."""

from pathlib import Path
from typing import Any

import attrs

from conformance.case import Case
from conformance.codec.cases import decode_epochs, digest, refuse_dataset
from conformance.codec.strict import check_format, checked_json, fields_of, given_fields, identity, list_of, read
from conformance.errors import inside
from conformance.observation import EngineInfo, Fired, Observation, Observations

OBSERVATIONS_FORMAT = "conformance-observations/1"

WHERE_KNOWN = ("message", "overlapped", "in_flight", "place")
"""Fields that are absent where an adapter does not know them."""


def read_observations(path: Path, case: Case) -> Observations:
    """Read an observations file and validate all of it; refuse one that is not of this case."""

    def of_this_case(value: object) -> Observations:
        seen = decode_observations(value)
        seen.check_fit(case, digest(case))
        return seen

    return read(path, of_this_case)


def decode_observations(value: object) -> Observations:
    """Decode observations from JSON."""
    checked_json(value)
    check_format(value, OBSERVATIONS_FORMAT)
    optional = ("engine", "epochs", "atomic", "snapshots", "fired", "end", "log", *WHERE_KNOWN)
    fields = fields_of(value, required=("format", "case", "observations"), optional=optional)
    del fields["format"]
    fields["case_digest"] = fields.pop("case")
    with inside("engine"):
        fields["engine"] = EngineInfo(
            **fields_of(fields.get("engine", {}), required=(), optional=("name", "version", "settings"))
        )
    with inside("observations"):
        refuse_dataset(fields["observations"])
        fields["observations"] = list_of(decode_observation, fields["observations"])
    with inside("fired"):
        fields["fired"] = list_of(_decode_fired, fields.get("fired", []))
    with inside("log"):
        fields["log"] = list_of(identity, fields.get("log", []))
    return Observations(**fields)


def decode_observation(value: object) -> Observation:
    """Decode one observation from JSON."""
    fields = fields_of(value, required=("streams",), optional=("t",))
    with inside("streams"):
        fields["streams"] = decode_epochs(fields["streams"])
    return Observation(**fields)


def _decode_fired(value: object) -> Fired:
    return Fired(**fields_of(value, required=("failure", "before"), optional=("t", "evidence")))


def encode_observation(seen: Observation) -> dict[str, Any]:
    """Encode one observation as JSON."""
    return {**given_fields(seen), "streams": dict(seen.streams)}


def encode_observations(seen: Observations) -> dict[str, Any]:
    """Encode observations as JSON."""
    encoded = {
        "format": OBSERVATIONS_FORMAT,
        "case": seen.case_digest,
        "engine": attrs.asdict(seen.engine),
        "epochs": seen.epochs,
        "atomic": seen.atomic,
        "snapshots": seen.snapshots,
        "observations": [encode_observation(each) for each in seen.observations],
        "fired": [given_fields(each) for each in seen.fired],
        "end": seen.end,
    }
    for name in WHERE_KNOWN:
        if (value := getattr(seen, name)) is not None:
            encoded[name] = value
    if seen.log:
        encoded["log"] = list(seen.log)
    return encoded
