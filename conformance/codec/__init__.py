"""
The only package that knows our JSON.

Values validate themselves (see `case`), so reading is thin: text to JSON strictly, JSON to values by their fields, and
every refusal carries the file and the JSON path. (Verdicts are in `verdicts`, which needs the judge.)
"""

from conformance.codec.cases import decode_case, digest, encode_case, read_case, write_case
from conformance.codec.observations import (
    decode_observation,
    decode_observations,
    encode_observations,
    read_observations,
)
from conformance.codec.strict import parse, read, write_text

__all__ = [
    "decode_case",
    "decode_observation",
    "decode_observations",
    "digest",
    "encode_case",
    "encode_observations",
    "parse",
    "read",
    "read_case",
    "read_observations",
    "write_case",
    "write_text",
]
