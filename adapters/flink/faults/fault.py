"""Faults: what is done to a cluster."""

from abc import ABC, abstractmethod

from conformance.adapters.flink.faults.context import FaultContext
from conformance.adapters.flink.standalone import ClusterNode


class Fault(ABC):
    """A fault that is injected once."""

    def __init__(self, context: FaultContext) -> None:
        self._cluster = context.cluster

    @abstractmethod
    def inject(self, victim: ClusterNode, moment: str) -> str:
        """Do it to a worker, or to the coordinator, and return the evidence: what was done, at which moment."""

    def is_over(self) -> bool:
        """Do what is due afterwards, and tell whether nothing remains to be done."""
        return True

    def lets_others_begin(self) -> bool:
        """Tell whether another fault can be injected before this one is over."""
        return True

    def stop(self) -> None:  # noqa: B027 - most faults leave nothing
        """Undo what would outlive the job."""
