"""Fault injector of a case whose cluster consists of processes or containers."""

import logging
from contextlib import suppress
from random import Random

from conformance.adapters.action_log import case_digests
from conformance.adapters.faults import next_failure
from conformance.adapters.flink.case_run import CaseRun
from conformance.adapters.flink.checkpoints import CheckpointApi
from conformance.adapters.flink.faults.blockers import Blockers
from conformance.adapters.flink.faults.commit import CommitPhase
from conformance.adapters.flink.faults.context import FaultContext
from conformance.adapters.flink.faults.fault import Fault
from conformance.adapters.flink.faults.kill_coordinator import KillCoordinator
from conformance.adapters.flink.faults.kill_worker import KillWorker
from conformance.adapters.flink.faults.partition_worker import PartitionWorker
from conformance.adapters.flink.faults.phase import FaultPhase
from conformance.adapters.flink.faults.processing import ProcessingPhase
from conformance.adapters.flink.faults.recovery import RecoveryPhase, RestoreDelay
from conformance.adapters.flink.faults.snapshot import SnapshotPhase
from conformance.adapters.flink.faults.standby import WorkerSupply
from conformance.adapters.flink.rest import RestError
from conformance.adapters.flink.standalone import ClusterNode, StandaloneCluster
from conformance.case import Kill, Partition
from conformance.codec import digest

LOGGER = logging.getLogger("conformance.adapters.flink")

RANDOM_STREAM = "violence"
"""The name of the stream of random numbers. With another name, a seed would choose other moments and workers."""


class ClusterFaultInjector:
    """Injects the kills and partitions of a case, one after the other, each in its phase."""

    def __init__(self, run: CaseRun, cluster: StandaloneCluster, checkpoints: CheckpointApi) -> None:
        request = run.request
        random = Random(f"{RANDOM_STREAM}/{request.seed}/{digest(request.case)}")
        self._context = FaultContext(run, cluster, checkpoints, random)
        self._is_early = [random.random() < 1 / 2 for _ in request.case.failures]
        self._blockers = Blockers(self._context)
        self._workers = WorkerSupply(self._context)
        self._restore_delay = RestoreDelay(self._context)
        self._injected: list[Fault] = []
        """Faults that are not over."""
        self._aim_at(len(run.fired))

    def _aim_at(self, number: int) -> None:
        """Prepare for the failure with this number, if it is a kill or a partition."""
        self._number = number
        self._phase: FaultPhase | None = None
        failure = next_failure(self._context.run.request.case.failures, number)
        if isinstance(failure, Kill | Partition):
            self._phase = self._phase_of(failure)
            self._fault = self._fault_of(failure)

    def _fault_of(self, failure: Kill | Partition) -> Fault:
        if isinstance(failure, Partition):
            return PartitionWorker(self._context, failure.seconds)
        return KillCoordinator(self._context) if failure.target == "coordinator" else KillWorker(self._context)

    def _phase_of(self, failure: Kill | Partition) -> FaultPhase:
        common = self._context, self._number, failure.epoch, self._is_early[self._number]
        match failure.phase if isinstance(failure, Kill) else None:
            case "snapshot":
                return SnapshotPhase(*common, self._blockers)
            case "commit":
                return CommitPhase(*common, self._blockers)
            case "recovery":
                return RecoveryPhase(*common)
            case _:
                return ProcessingPhase(*common)

    def delays_checkpoint(self, epoch: int) -> bool:
        return self._phase is not None and self._phase.epoch == epoch and self._phase.delays_checkpoint()

    def keeps_gate_closed(self, epoch: int) -> bool:
        return self._phase is not None and self._phase.epoch == epoch and self._phase.keeps_gates_closed()

    def step(self, closed_epochs: int) -> None:
        if self._number != len(self._context.run.fired):
            self._aim_at(len(self._context.run.fired))
        self._injected = [fault for fault in self._injected if not fault.is_over()]
        if not all(fault.lets_others_begin() for fault in self._injected):
            return
        self._workers.update(self._number)
        self._restore_delay.update(self._number)
        with suppress(RestError, OSError, KeyError):  # The job is being restored: the moment comes again.
            if self._phase is not None and self._phase.is_reached(closed_epochs):
                self._phase.inject_if_due(self._inject)

    def _inject(self, victim: ClusterNode, moment: str) -> None:
        case, fault = case_digests([self._context.run.request]), type(self._fault).__name__
        LOGGER.info("case %s: inject failure %d, %s: %s", case, self._number, fault, moment)
        evidence = self._fault.inject(victim, moment)
        self._injected.append(self._fault)
        self._context.run.deployment.channel.evidence.record(self._number, evidence)
        self._restore_delay.stop()
        self._blockers.release()

    def stop(self) -> None:
        self._blockers.release()
        self._restore_delay.stop()
        for fault in self._injected:
            fault.stop()
