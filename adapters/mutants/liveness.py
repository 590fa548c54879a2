"""Broken liveness: nothing wrong is shown, and not everything that should be."""

from conformance.adapters.mutants.machine import Machine, MachineOperator
from conformance.model.configuration import BD


class StallsAfterTheSecondRecovery(Machine):
    """After two recoveries nothing moves any more."""

    def moves(self) -> list[tuple[str, str]]:
        return [] if self.recoveries > 1 else super().moves()


class NeverPassesTheLastBorder(Machine):
    """One task never passes the border of the last epoch."""

    def aligned(self, operator: MachineOperator) -> bool:
        last = operator is list(self.tasks.values())[-1] and operator.epoch == self.case.epochs
        return not last and super().aligned(operator)


class Livelock(Machine):
    """Recovery fails and is begun again, for ever."""

    def recover(self) -> None:
        super().recover()
        if self.recoveries > 1:
            for operator in self.tasks.values():
                self.fail(operator)


class StallsOnAnEmptyEpoch(Machine):
    """A task does not pass the border of an epoch in which it had nothing to do, once something has failed."""

    def aligned(self, operator: MachineOperator) -> bool:
        idle = all(w is BD for stream in operator.task.inputs for e, w in self.streams[stream] if e == operator.epoch)
        return not (idle and self.recoveries) and super().aligned(operator)


class NeverRecovers(Machine):
    """A failed task stays failed."""

    def moves(self) -> list[tuple[str, str]]:
        return [move for move in super().moves() if move[0]]


LIVENESS = (
    StallsAfterTheSecondRecovery,
    NeverPassesTheLastBorder,
    Livelock,
    StallsOnAnEmptyEpoch,
    NeverRecovers,
)
