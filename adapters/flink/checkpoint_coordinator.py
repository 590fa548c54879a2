"""
Coordinator of the checkpoints that close given epochs.

When all sources have played an epoch, a checkpoint is requested. While it is under way, sources that it has passed may
play the next epoch. The epoch is closed if the checkpoint is complete and every source is still in the attempt that had
played the epoch; otherwise the checkpoint is abandoned, and another one is requested.
"""

import logging
import re
from collections.abc import Mapping
from contextlib import suppress
from enum import Enum
from time import monotonic, time
from typing import Any

from attrs import define, field

from conformance.adapters.flink.case_run import CaseRun, CaseRuns
from conformance.adapters.flink.checkpoints import CheckpointApi, first_operator
from conformance.adapters.flink.committed import CheckpointRef
from conformance.adapters.flink.faults import FaultInjector
from conformance.adapters.flink.messages import PlayAhead, PlayEpoch, RollBack
from conformance.adapters.flink.rest import RestError
from conformance.adapters.flink.setup import UNALIGNED

LOGGER = logging.getLogger("conformance.adapters.flink")

POLL_SECONDS = 0.01
"""Seconds between two REST requests about a checkpoint: Flink answers each at the expense of its other work."""

RETRY_SECONDS = 0.01
"""Seconds between an abandoned checkpoint and the next one."""

EXCEPTIONS = re.compile(r"^(?:[\w.$]+(?:Exception|Error): )+")
"""The classes of nested exceptions, before a message."""

REASON_LENGTH = 300
"""Characters of the reason that Flink gives for a failed checkpoint, in the action log."""


class CheckpointState(Enum):
    """Where the coordinator is on the way to the end of an epoch."""

    WAITING = "no checkpoint is requested"
    REQUESTED = "a checkpoint is under way, and no source plays ahead"
    PLAYING_AHEAD = "a checkpoint is under way, and sources play the next epoch"
    ROLLING_BACK = "a checkpoint was abandoned, and sources that played ahead are not restored yet"


TRANSITIONS = {
    CheckpointState.WAITING: {CheckpointState.REQUESTED},
    CheckpointState.REQUESTED: {CheckpointState.PLAYING_AHEAD, CheckpointState.WAITING},
    CheckpointState.PLAYING_AHEAD: {CheckpointState.WAITING, CheckpointState.ROLLING_BACK},
    CheckpointState.ROLLING_BACK: {CheckpointState.WAITING},
}


@define
class PendingCheckpoint:
    """A checkpoint that was requested."""

    request: str
    epoch: int
    sources: list[dict[str, str]]
    """For each case, the attempts of its sources, which had played the epoch."""
    fired: int
    """How many failures had happened when it was requested. One more, and it will fail."""
    ahead: list[tuple[CaseRun, dict[str, str]]] = field(factory=list)
    """The cases whose sources play the next epoch, and the attempts of these sources."""
    polled: float = 0.0
    """When Flink was last asked about it."""


class CheckpointCoordinator:
    """Requests the checkpoints of a job, and closes its epochs with them."""

    def __init__(self, cases: CaseRuns, checkpoints: CheckpointApi, faults: FaultInjector) -> None:
        self._cases = cases
        self._setup = cases.setup
        self._checkpoints = checkpoints
        self._faults = faults
        self.state = CheckpointState.WAITING
        self.closed: list[CheckpointRef] = []
        """The checkpoints that have closed epochs, in order."""
        self._pending: PendingCheckpoint | None = None
        self._rolled_back: set[str] = set()
        self._retry_at = 0.0
        self._abandoned = 0
        """How many checkpoints of the current epoch were abandoned."""
        self._reason = ""
        """Why the last one of them was."""

    @property
    def is_pending(self) -> bool:
        """Whether a checkpoint is under way."""
        return self._pending is not None

    def step(self) -> bool:
        """Do what is due, and tell whether that has closed an epoch."""
        if self._pending is not None:
            return self._poll(self._pending)
        if self._is_due(len(self.closed) + 1):
            self._request(len(self.closed) + 1)
        return False

    def play_next_epoch(self) -> None:
        """Let all sources play the epoch behind the last one that is closed."""
        for run in self._cases:
            run.deployment.channel.signal(PlayEpoch(len(self.closed) + 1))

    def _enter(self, state: CheckpointState) -> None:
        if state not in TRANSITIONS[self.state]:
            raise AssertionError(f"from {self.state.name} there is no way to {state.name}")
        if state in {CheckpointState.PLAYING_AHEAD, CheckpointState.ROLLING_BACK}:
            LOGGER.info("job %s: epoch %d: %s", self._checkpoints.job, len(self.closed) + 1, state.value)
        self.state = state

    def _is_due(self, epoch: int) -> bool:
        if self._setup.has_own_epochs or epoch > self._cases.epochs or monotonic() < self._retry_at:
            return False
        if self._faults.delays_checkpoint(epoch):
            return False
        if self.state is CheckpointState.ROLLING_BACK:
            if any(attempt in self._rolled_back for run in self._cases for attempt in run.sources.values()):
                return False
            self._enter(CheckpointState.WAITING)
        if self._setup.mode == UNALIGNED and not all(
            run.has_passed(epoch) for run in self._cases if run.request.case.epochs == epoch
        ):
            # The last checkpoint of a case must not leave anything in flight.
            return False
        return all(run.has_played(epoch) for run in self._cases)

    def _request(self, epoch: int) -> None:
        try:
            request = self._checkpoints.request()
        except (RestError, OSError):
            self._retry_at = monotonic() + RETRY_SECONDS
            return
        sources = [run.sources for run in self._cases]
        self._pending = PendingCheckpoint(request, epoch, sources, self._cases.fired)
        self._enter(CheckpointState.REQUESTED)

    def _poll(self, pending: PendingCheckpoint) -> bool:
        """Ask what became of a checkpoint, and tell whether it has closed its epoch."""
        if monotonic() < pending.polled + POLL_SECONDS:
            return False
        pending.polled = monotonic()
        try:
            outcome = self._checkpoints.outcome(pending.request)
        except (RestError, OSError) as error:
            self._abandon_checkpoint(pending, f"Flink does not tell its outcome: {error}")
            return False
        if outcome is None:
            self._let_sources_play_ahead(pending)
            return False
        number = outcome.get("checkpointId")
        if number is None:
            self._abandon_checkpoint(pending, _failure_cause(outcome))
            return False
        self._cases.update()
        if pending.sources != [run.sources for run in self._cases]:
            self._abandon_checkpoint(pending, "a source was restored meanwhile")
            return False
        self._pending = None
        self._enter(CheckpointState.WAITING)
        self.closed.append(self._checkpoints.committed.checkpoint(number))
        LOGGER.info(
            "job %s: epoch %d: closed by checkpoint %s, %d abandoned before it",
            self._checkpoints.job,
            pending.epoch,
            number,
            self._abandoned,
        )
        self._abandoned, self._reason = 0, ""
        if self._setup.mode == UNALIGNED:
            self._record_in_flight_bytes(number)
        return True

    def _abandon_checkpoint(self, pending: PendingCheckpoint, reason: str) -> None:
        """
        Give a checkpoint up, and request another one soon.

        A source that played ahead has gone too far, because there is no checkpoint between the two epochs any more. So
        it is made to fail, unless it has failed already, and is restored. While a job is restored, checkpoints fail
        for the same reason every few milliseconds; the reason is logged once.
        """
        self._abandoned += 1
        if reason != self._reason:
            LOGGER.info("job %s: epoch %d: abandoned a checkpoint: %s", self._checkpoints.job, pending.epoch, reason)
            self._reason = reason
        for run, sources in pending.ahead:
            self._rolled_back.update(sources.values())
            if run.sources == sources:
                run.record_failure(time(), sources)
            for attempt in sources.values():
                run.deployment.channel.signal(RollBack(attempt))
        self._enter(CheckpointState.ROLLING_BACK if pending.ahead else CheckpointState.WAITING)
        self._pending = None
        self._retry_at = monotonic() + RETRY_SECONDS

    def _record_in_flight_bytes(self, number: int) -> None:
        """Add to each case the bytes of its in-flight messages that a checkpoint holds."""
        with suppress(RestError, OSError, KeyError):
            for chain, share in self._checkpoints.shares(number).items():
                for run in self._cases:
                    if chain.startswith(run.deployment.flink_name("")):
                        run.in_flight += share.in_flight

    def _let_sources_play_ahead(self, pending: PendingCheckpoint) -> None:
        """Let sources that the checkpoint has passed play the next epoch, while it is under way further down."""
        already = {run.request.id for run, _ in pending.ahead}
        others = [run for run in self._cases if run.request.id not in already]
        runs = [run for run in others if self._cases.may_play_ahead(run, pending.epoch)]
        if not runs or (self._cases.fired > pending.fired and not self._cases.is_alone):
            return
        with suppress(RestError, OSError, KeyError):
            number = self._checkpoints.under_way()
            shares = self._checkpoints.shares(number) if number is not None else {}
            done = {first_operator(chain) for chain, share in shares.items() if share.is_done}
            for run in runs:
                sources = run.sources
                if all(run.deployment.flink_name(source) in done for source in sources):
                    if not pending.ahead:
                        self._enter(CheckpointState.PLAYING_AHEAD)
                    pending.ahead.append((run, sources))
                    for attempt in sources.values():
                        run.deployment.channel.signal(PlayAhead(attempt, pending.epoch + 1))


def _failure_cause(outcome: Mapping[str, Any]) -> str:
    """Return the reason that Flink gives for a failed checkpoint: one line, without the classes of exceptions."""
    cause = outcome.get("failureCause")
    text = cause.get("stack-trace", "") if isinstance(cause, Mapping) else str(cause)
    return EXCEPTIONS.sub("", text.strip()).partition("\n")[0][:REASON_LENGTH]
