"""Interface of fault injectors, and the one for jobs without kills and partitions."""

from typing import Protocol


class FaultInjector(Protocol):
    """Injects the faults of one job, and says what has to wait for them."""

    def delays_checkpoint(self, epoch: int) -> bool:
        """Tell whether the checkpoint of an epoch must not be requested yet."""
        ...

    def keeps_gate_closed(self, epoch: int) -> bool:
        """Tell whether tasks that wait in an epoch must not be released yet."""
        ...

    def step(self, closed_epochs: int) -> None:
        """Do what is due, when that many epochs are closed."""
        ...

    def stop(self) -> None:
        """Undo what would outlive the job."""
        ...


class NoFaults:
    """The fault injector of a job without kills and partitions."""

    def delays_checkpoint(self, epoch: int) -> bool:  # noqa: ARG002
        return False

    def keeps_gate_closed(self, epoch: int) -> bool:  # noqa: ARG002
        return False

    def step(self, closed_epochs: int) -> None:
        pass

    def stop(self) -> None:
        pass
