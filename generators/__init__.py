"""
Hypothesis strategies for cases, the public way to write properties of one's own.

    from hypothesis import given
    from generators import cases

    @given(cases())
    def test_my_engine(case): ...

Every strategy says what it shrinks to. `collect` gives the cases of a seed as a list, `situations` says what a case
puts an engine through, `corpus` has the hand-written cases.
"""

from generators.cases import cases
from generators.collect import Numbered, collect
from generators.corpus import corpus
from generators.failures import failures, holds
from generators.graphs import graphs
from generators.inputs import events, inputs
from generators.parts import parts
from generators.programs import programs
from generators.situations import SITUATIONS, situations
from generators.sizes import DEEP, DEFAULT, Size

__all__ = [
    "DEEP",
    "DEFAULT",
    "SITUATIONS",
    "Numbered",
    "Size",
    "cases",
    "collect",
    "corpus",
    "events",
    "failures",
    "graphs",
    "holds",
    "inputs",
    "parts",
    "programs",
    "situations",
]
