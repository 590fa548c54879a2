"""
Fault injection into a Flink cluster: kills and partitions, each in a phase of the checkpoint cycle.

A fault (`KillWorker`, `KillCoordinator`, `PartitionWorker`) says what is done, a phase says when. Each phase keeps its
window open until the fault is injected, and looks at the facts while nothing can move on. These facts are the evidence.
All windows are Flink's own, and Flink itself is not changed.

The crashes of a case are not injected here but by its tasks; a restart is done by the driver.
"""

from collections.abc import Sequence

from conformance.adapters.flink.case_run import CaseRun
from conformance.adapters.flink.checkpoints import CheckpointApi
from conformance.adapters.flink.cluster import FlinkCluster
from conformance.adapters.flink.faults.cluster_faults import ClusterFaultInjector
from conformance.adapters.flink.faults.injector import FaultInjector, NoFaults
from conformance.adapters.flink.standalone import StandaloneCluster
from conformance.case import Kill, Partition

__all__ = ["ClusterFaultInjector", "FaultInjector", "NoFaults", "fault_injector"]


def fault_injector(runs: Sequence[CaseRun], cluster: FlinkCluster, checkpoints: CheckpointApi) -> FaultInjector:
    """Return the fault injector of a job: a case with kills or partitions has the job, and the cluster, for itself."""
    has_faults = any(isinstance(failure, Kill | Partition) for run in runs for failure in run.request.case.failures)
    if has_faults and isinstance(cluster, StandaloneCluster):
        (run,) = runs
        return ClusterFaultInjector(run, cluster, checkpoints)
    return NoFaults()
