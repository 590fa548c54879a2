"""Progress of a case's operators, as their status messages tell it."""

from attrs import define, field, frozen

from conformance.adapters.flink.control import ControlChannel
from conformance.adapters.flink.messages import (
    AttemptOpened,
    AttemptOpening,
    BorderPassed,
    Gate,
    GateReached,
    ReleaseGate,
    StatusReport,
)


@frozen
class WaitingOperator:
    """The attempt of an operator that waits at a gate, the number of the gate, and since when it waits (Unix time)."""

    attempt: str
    number: int
    since: float


@define
class Progress:
    """How far each operator of a case is in its current attempt."""

    channel: ControlChannel
    attempts: dict[str, str] = field(factory=dict)
    """By operator, its current attempt."""
    opened_at: dict[str, float] = field(factory=dict)
    """By operator, when its current attempt began."""
    passed: dict[str, int] = field(factory=dict)
    """By operator, the last border that it has passed in its current attempt."""
    waiting: dict[tuple[str, Gate], WaitingOperator] = field(factory=dict)
    """The operators that wait at gates."""
    opening: dict[str, str] = field(factory=dict)
    """By operator that is about to open, its next attempt."""
    last_report: float = 0.0
    """When the newest report was made."""
    _offset: int = 0

    def update(self) -> None:
        """Read the reports that are new."""
        reports, self._offset = self.channel.reports(self._offset)
        for report in reports:
            self._apply(report)

    def _apply(self, report: StatusReport) -> None:
        self.last_report = report.time
        message = report.message
        operator, attempt = message.operator, message.attempt
        if isinstance(message, AttemptOpening):
            self.opening[operator] = attempt
        elif isinstance(message, AttemptOpened):
            self.opening.pop(operator, None)
            self.attempts[operator] = attempt
            self.opened_at[operator] = report.time
            self.passed.pop(operator, None)
            self.waiting = {key: value for key, value in self.waiting.items() if key[0] != operator}
        elif attempt != self.attempts.get(operator):
            return
        elif isinstance(message, BorderPassed):
            self.passed[operator] = message.epoch
        elif isinstance(message, GateReached):
            self.waiting[operator, message.gate] = WaitingOperator(attempt, message.number, report.time)

    def release_gate(self, operator: str, gate: Gate) -> None:
        """Let an operator go on from the gate that it waits at."""
        waiting = self.waiting.pop((operator, gate))
        self.channel.signal(ReleaseGate(waiting.attempt, gate, waiting.number))

    def release_all_gates(self) -> None:
        """Let every operator go on that waits."""
        for operator, gate in list(self.waiting):
            self.release_gate(operator, gate)
