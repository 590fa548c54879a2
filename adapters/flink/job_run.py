"""Run of one Flink job, from its submission to its end."""

import logging
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

from conformance.adapters.action_log import case_digests
from conformance.adapters.flink.case_run import CaseRun, CaseRuns
from conformance.adapters.flink.checkpoint_coordinator import CheckpointCoordinator
from conformance.adapters.flink.checkpoints import CheckpointApi
from conformance.adapters.flink.cluster import FlinkCluster, JobClient
from conformance.adapters.flink.committed import CommittedOutput
from conformance.adapters.flink.control import ControlChannel
from conformance.adapters.flink.deployment import deploy
from conformance.adapters.flink.faults import fault_injector
from conformance.adapters.flink.gates import GateController
from conformance.adapters.flink.messages import PlayEpoch
from conformance.adapters.flink.observer import OutputObserver
from conformance.adapters.flink.progress import Progress
from conformance.adapters.flink.rest import GLOBALLY_TERMINAL, RestError
from conformance.adapters.flink.schedule import JobGroup, closed_gates, plays_ahead
from conformance.adapters.flink.setup import UNALIGNED, FlinkSetup
from conformance.case import Restart
from conformance.codec import digest
from conformance.engine import RunRequest
from conformance.observation import EngineInfo, Observations

LOGGER = logging.getLogger("conformance.adapters.flink")

STEP_SECONDS = 0.003
"""Seconds between two steps."""

CANCEL_SECONDS = 30
"""Seconds for a job to be cancelled."""


class JobRun:
    """
    A job that runs the cases of a group.

    It asks for checkpoints, opens gates, injects faults and restarts the job. Recovery from a failure is left to Flink.
    """

    def __init__(
        self, group: JobGroup, setup: FlinkSetup, client: JobClient, cluster: FlinkCluster, folder: Path
    ) -> None:
        self._setup = setup
        self._client = client
        self._cluster = cluster
        self._rest = cluster.rest
        self.cases = CaseRuns(
            tuple(
                _case_run(request, ControlChannel(str(folder), number), setup)
                for number, request in enumerate(group.requests)
            ),
            setup,
        )
        self._committed = CommittedOutput(folder)
        self._checkpoints = CheckpointApi(cluster.rest, self._committed)
        self._faults = fault_injector(self.cases.runs, cluster, self._checkpoints)
        self._coordinator = CheckpointCoordinator(self.cases, self._checkpoints, self._faults)
        self._gates = GateController(self.cases, self._faults)
        self._observer = OutputObserver(self.cases, self._committed, self._coordinator)
        self._message: str | None = None

    def run_until(self, deadline: float) -> None:
        """Run the job until every epoch can be seen, or to a deadline of the monotonic clock, and cancel it."""
        self._submit(None)
        try:
            while monotonic() < deadline and self._message is None and not self._is_complete:
                self._step()
                sleep(STEP_SECONDS)
            self._observer.observe(last=True)
        finally:
            self._faults.stop()
            self.cancel()

    def _submit(self, savepoint: Path | None) -> None:
        cases = [run.deployment for run in self.cases]
        restarts = len(self._committed.jobs)
        self._committed.jobs.append(self._client.submit(self._cluster, cases, self._setup, restarts, savepoint))
        LOGGER.info(
            "job %s: submitted from %s, in folder %s, with cases %s",
            self._checkpoints.job,
            savepoint or "the start",
            self._committed.folder.name,
            case_digests(run.request for run in self.cases),
        )

    def cancel(self) -> None:
        """Cancel the job, and wait until it has ended."""
        LOGGER.info("job %s: cancelled, %d epochs closed", self._checkpoints.job, len(self._coordinator.closed))
        self.cases.release_all_gates()
        with suppress(RestError, OSError):
            path = f"/jobs/{self._checkpoints.job}"
            self._rest.patch(path)
            deadline = monotonic() + CANCEL_SECONDS
            while self._rest.get(f"{path}/status")["status"] not in GLOBALLY_TERMINAL and monotonic() < deadline:
                self.cases.update()
                self.cases.release_all_gates()
                sleep(STEP_SECONDS)

    @property
    def _is_complete(self) -> bool:
        return all(map(self._observer.is_complete, self.cases))

    def _step(self) -> None:
        self.cases.update()
        self._observer.record_failures()
        if self._coordinator.step():
            self._observer.observe()
            closed = len(self._coordinator.closed)
            if not self.cases.awaits_restart(closed):
                self._coordinator.play_next_epoch()
        closed = len(self._coordinator.closed)
        self._gates.step(closed)
        self._faults.step(closed)
        self._observer.observe_if_due()
        self._restart_if_due()

    def _restart_if_due(self) -> None:
        """Restart the job when the epoch after which a case wants that is committed in all cases."""
        failures = [run.next_failure for run in self.cases]
        epoch = min((failure.epoch for failure in failures if isinstance(failure, Restart)), default=None)
        if epoch is None or self._coordinator.is_pending:
            return
        if all(self._observer.shows(run, epoch) for run in self.cases):
            self._restart(epoch)

    def _restart(self, epoch: int) -> None:
        LOGGER.info("job %s: stopped for a restart after epoch %d", self._checkpoints.job, epoch)
        savepoint = self._stop_with_savepoint()
        if savepoint is None:
            return
        self._committed.add_savepoint(savepoint)
        self._observer.observe()
        for run in self.cases:
            failure = run.next_failure
            if isinstance(failure, Restart) and failure.epoch == epoch:
                evidence = f"stopped with a savepoint when epoch {epoch} was committed, and started from it"
                run.deployment.channel.evidence.record(len(run.fired), evidence)
        self._observer.record_failures()
        self._submit(savepoint)
        self._coordinator.play_next_epoch()

    def _stop_with_savepoint(self) -> Path | None:
        """Stop the job, and return its savepoint; None, with a message, if that fails."""
        path = f"/jobs/{self._checkpoints.job}"
        try:
            folder = f"file://{self._committed.folder}/savepoints"
            request = self._rest.post(f"{path}/stop", drain=False, targetDirectory=folder)["request-id"]
            while (answer := self._rest.get(f"{path}/savepoints/{request}"))["status"]["id"] != "COMPLETED":
                sleep(STEP_SECONDS)
        except (RestError, OSError) as error:
            self._message = f"it cannot be stopped: {error}"
            return None
        location = answer["operation"].get("location")
        if location is None:
            self._message = f"it cannot be stopped with a savepoint: {str(answer['operation'])[:300]}"
            return None
        return Path(location.removeprefix("file:"))

    def observations(self, info: EngineInfo, place: str | None = None) -> Iterator[tuple[int, Observations]]:
        """Yield the observations of each case, which ran in this place, with the id of its run request."""
        for run in self.cases:
            complete = self._observer.is_complete(run)
            yield (
                run.request.id,
                Observations(
                    digest(run.request.case),
                    tuple(run.observations),
                    info,
                    self._setup.epochs,  # type: ignore[arg-type]
                    atomic=False,
                    snapshots=self._setup.snapshots,  # type: ignore[arg-type]
                    fired=tuple(run.fired),
                    end="completed" if complete else "error" if self._message else "stalled",
                    message=None if complete else self._message,
                    overlapped=None if self._setup.has_own_epochs else len(run.overlapped),
                    in_flight=None if self._setup.has_own_epochs or self._setup.mode != UNALIGNED else run.in_flight,
                    place=place,
                ),
            )


def _case_run(request: RunRequest, channel: ControlChannel, setup: FlinkSetup) -> CaseRun:
    channel.prepare()
    channel.signal(PlayEpoch(1))
    deployment = deploy(channel, request, closed_gates(request), parallel=setup.is_parallel)
    return CaseRun(request, deployment, Progress(channel), plays_ahead(request))
