"""Observer of a job: what the observed streams show, and which failures have happened."""

import logging
from time import monotonic, time

from conformance.adapters.action_log import case_digests
from conformance.adapters.flink.case_run import CaseRun, CaseRuns
from conformance.adapters.flink.checkpoint_coordinator import CheckpointCoordinator
from conformance.adapters.flink.committed import CommittedOutput
from conformance.case import Crash, Restart
from conformance.observation import Fired, Observation

LOGGER = logging.getLogger("conformance.adapters.flink")

OBSERVE_SECONDS = 0.05
"""Seconds between two observations, where there is no other reason for one."""


class OutputObserver:
    """Records the observations and failures of each case, with the seconds since the job began."""

    def __init__(self, cases: CaseRuns, committed: CommittedOutput, coordinator: CheckpointCoordinator) -> None:
        self._cases = cases
        self._committed = committed
        self._coordinator = coordinator
        self._own_epochs = cases.setup.has_own_epochs
        self._began = time()
        self._observed = 0.0

    def observe(self, *, last: bool = False) -> None:
        """Record what every case shows, if it has changed; the last time, in any event."""
        self._observed = monotonic()
        self._committed.update()
        for run in self._cases:
            self._observe(run, always=last, last=last)

    def observe_if_due(self) -> None:
        """Record what every case shows, if the last time is long enough ago."""
        if monotonic() > self._observed + OBSERVE_SECONDS:
            self.observe()

    def _observe(self, run: CaseRun, *, always: bool, last: bool = False) -> None:
        number, closed = run.deployment.number, self._coordinator.closed
        ends = self._committed.ends(number) if self._own_epochs else closed[: run.request.case.epochs]
        streams = {
            stream: self._committed.epochs(number, run.deployment.tap(stream), stream, ends, last=last)
            for stream in sorted(run.deployment.streams)
        }
        if always or not run.observations or run.observations[-1].streams != streams:
            run.observations.append(Observation(streams, self._elapsed(time())))

    def _elapsed(self, moment: float) -> float:
        return round(moment - self._began, 4)

    def record_failures(self) -> None:
        """Record the failures that are new, and what the case shows after each."""
        for run in self._cases:
            evidence = run.deployment.channel.evidence
            while (failure := run.next_failure) and evidence.has(len(run.fired)):
                found = evidence.read(len(run.fired))
                LOGGER.info("case %s: failure %d: %s", case_digests([run.request]), len(run.fired), found.description)
                elapsed = self._elapsed(found.time)
                run.fired.append(Fired(len(run.fired), len(run.observations), found.description, elapsed))
                self._committed.update()
                self._observe(run, always=True)
                run.record_failure(found.time, [failure.task] if isinstance(failure, Crash) else ())

    def shows(self, run: CaseRun, epoch: int) -> bool:
        """Tell whether an epoch of a case can be seen in every stream that is observed."""
        last = min(epoch, run.request.case.epochs)
        deployment = run.deployment
        if self._own_epochs:
            return all(
                self._committed.shows_border(deployment.number, deployment.tap(stream), stream, last)
                for stream in deployment.streams
            )
        return bool(run.observations) and all(len(shown) >= last for shown in run.observations[-1].streams.values())

    def is_complete(self, run: CaseRun) -> bool:
        """Tell whether every epoch of a case can be seen, and no restart is to come."""
        return not isinstance(run.next_failure, Restart) and self.shows(run, run.request.case.epochs)
