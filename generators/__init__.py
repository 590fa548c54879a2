"""
Hypothesis strategies for cases: a public interface, for campaigns and for property tests of your own.

    from hypothesis import given
    from conformance.generators import cases

    @given(cases())
    def test_my_engine(case): ...

Every strategy says what it shrinks to. `collect` lists the cases of a seed, `situations` names what a case puts an
engine through, `corpus` has the hand-written cases. A campaign (`campaign.plan`) runs the corpus first and then the
cases of its seed, by number (`Numbered`).
"""

from conformance.generators.cases import cases
from conformance.generators.collect import Numbered, collect
from conformance.generators.corpus import corpus
from conformance.generators.failures import failures, holds
from conformance.generators.graphs import graphs
from conformance.generators.inputs import events, inputs
from conformance.generators.parts import parts
from conformance.generators.programs import programs
from conformance.generators.situations import SITUATIONS, situations
from conformance.generators.sizes import DEEP, DEFAULT, Size

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
