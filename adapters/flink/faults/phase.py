"""Phases: the window in which a fault is injected."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias

from attrs import frozen

from conformance.adapters.flink.faults.context import FaultContext
from conformance.adapters.flink.standalone import ClusterNode

Inject: TypeAlias = Callable[[ClusterNode, str], None]
"""Inject the fault into a worker at a moment, which is described for the evidence."""


@frozen
class FaultPhase(ABC):
    """The phase in which one failure of a case is injected."""

    context: FaultContext
    number: int
    """The number of the failure."""
    epoch: int
    is_early: bool
    """Whether it is injected as early in the phase as possible, instead of as late."""

    def delays_checkpoint(self) -> bool:
        """Tell whether the checkpoint of the epoch must not be requested yet."""
        return False

    def keeps_gates_closed(self) -> bool:
        """Tell whether tasks that wait in the epoch must not be released yet."""
        return False

    def is_reached(self, closed_epochs: int) -> bool:
        """Tell whether the job is where the phase can be, when that many epochs are closed."""
        return closed_epochs == self.epoch - 1 and self.context.all_workers_registered()

    @abstractmethod
    def inject_if_due(self, inject: Inject) -> None:
        """Inject the fault if its moment has come, or do what brings it closer."""
