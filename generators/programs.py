"""Strategies for programs."""

from collections.abc import Collection
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.programs import (
    PROGRAMS,
    Average,
    Batch,
    Count,
    Digest,
    Distinct,
    Filter,
    KeyedSum,
    Map,
    Program,
    Repeat,
    Sum,
)

CHOICES: tuple[Program[Any], ...] = (
    *[Digest()] * 4,
    *[Sum()] * 2,
    Count(),
    *[Distinct()] * 3,
    *[Average()] * 3,
    *[Batch(2), Batch(2), Batch(3)],
    *[KeyedSum(2), KeyedSum(2), KeyedSum(3)],
    Map(2, 1),
    Map(0, 7),
    Filter(2, 0),
    Filter(3, 1),
    Repeat(0),
    Repeat(2),
)
"""The programs to choose from, the likelier the more often they are listed: most carry state or depend on order."""


def programs(*, ops: Collection[str] = PROGRAMS.keys()) -> SearchStrategy[Program[Any]]:
    """
    Programs among `ops`, mostly those that carry state or depend on order.

    Shrinks towards `digest`, which tells most about what went wrong, and to small parameters.
    """
    allowed = [program for program in CHOICES if program.op in ops]
    if not allowed:
        raise ValueError(f"no program among {', '.join(sorted(ops)) or 'none at all'}; there are {', '.join(PROGRAMS)}")
    return st.sampled_from(allowed)
