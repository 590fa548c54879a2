"""
Observational explanation: the condition under which one execution may be taken for another.

C is explained by C' with respect to O and O' if every O(C_m) is some O'(C'_m'). Here both executions come as the
observations along them, and an explanation is the mapping m -> m'. The functions are the lemmas: each takes
explanations that hold and returns one that holds.
"""

from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise
from typing import TypeAlias, TypeVar

IndexMapping: TypeAlias = tuple[int, ...]
"""m -> m'."""

O1 = TypeVar("O1")
O2 = TypeVar("O2")
Seen = TypeVar("Seen", bound=Hashable)


def explains(observed: Sequence[O1], by: Sequence[O1], mapping: IndexMapping) -> bool:
    """Check that the mapping is an explanation: equal observations at m and mapping[m], for every m."""
    return len(mapping) == len(observed) and all(
        0 <= target < len(by) and seen == by[target] for seen, target in zip(observed, mapping, strict=True)
    )


def explanation(observed: Sequence[Seen], by: Sequence[Seen]) -> IndexMapping | None:
    """
    Find the explanation that takes each observation to the first place where `by` shows the same; None if none exists.

    It is also a monotonic one, wherever both sides are monotonic in one partial order (Lemma monotonicity): if
    O(C_k) = x precedes O(C_k+1) = y and the first y stood before the first x, then y would precede x as well, so x = y.
    """
    first: dict[Seen, int] = {}
    for index, seen in enumerate(by):
        first.setdefault(seen, index)
    if any(seen not in first for seen in observed):
        return None
    return tuple(first[seen] for seen in observed)


def is_monotonic(mapping: IndexMapping) -> bool:
    """Check that the chosen indices never go back."""
    return all(earlier <= later for earlier, later in pairwise(mapping))


def grows(observed: Sequence[O1], precedes: Callable[[O1, O1], bool]) -> bool:
    """Check that an observability function is monotonic along an execution, in the order `precedes`."""
    return all(precedes(earlier, later) for earlier, later in pairwise(observed))


def chained(first: IndexMapping, second: IndexMapping) -> IndexMapping:
    """Apply transitivity: C by C' and C' by C'' give C by C''."""
    return tuple(second[target] for target in first)


def composed(
    view: Callable[[O1], O2], observed: Sequence[O1], by: Sequence[O1], mapping: IndexMapping
) -> tuple[list[O2], list[O2], IndexMapping]:
    """
    Apply composition: what explains through O explains through any view of O.

    The same mapping still holds, as equal observations have equal views. The result is an explanation in the paper's
    sense only if the view of O is itself monotonic, as every observability function must be; "only these streams" is.
    """
    return [view(seen) for seen in observed], [view(seen) for seen in by], mapping
