"""
Is what an engine let us observe explained by a failure-free execution of the model?

The entry is `judge(case, observations)`; what it answers is in `verdict`.
"""

from conformance.judge.budget import Budget
from conformance.judge.judge import judge
from conformance.judge.verdict import Conforms, Finding, Inconclusive, Verdict, Violates

__all__ = ["Budget", "Conforms", "Finding", "Inconclusive", "Verdict", "Violates", "judge"]
