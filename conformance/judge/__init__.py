"""
Decide whether a failure-free execution of the model explains what an engine let us observe.

The entry is `judge(case, observations)`, in `judge.judge`; its answers are the classes of `judge.verdict`.
"""

from conformance.judge.budget import Budget
from conformance.judge.judge import judge
from conformance.judge.verdict import Conforms, Finding, Inconclusive, Verdict, Violates

__all__ = ["Budget", "Conforms", "Finding", "Inconclusive", "Verdict", "Violates", "judge"]
