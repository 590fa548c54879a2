"""
The only package that knows our JSON.

Values refuse themselves (see `case`), so reading is thin: text to JSON strictly, JSON to values by their
fields, and every refusal carries the file and the JSON path.
"""

from conformance.codec.cases import decode_case, digest, encode_case, read_case, write_case
from conformance.codec.observations import (
    decode_observation,
    decode_observations,
    encode_observations,
    read_observations,
)
from conformance.codec.strict import parse, read, write_text
from conformance.codec.verdicts import decode_trace, encode_trace, encode_verdict

__all__ = [
    "decode_case",
    "decode_observation",
    "decode_observations",
    "decode_trace",
    "digest",
    "encode_case",
    "encode_observations",
    "encode_trace",
    "encode_verdict",
    "parse",
    "read",
    "read_case",
    "read_observations",
    "write_case",
    "write_text",
]
