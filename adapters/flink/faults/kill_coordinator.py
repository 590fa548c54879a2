"""SIGKILL of the coordinator."""

from conformance.adapters.flink.faults.fault import Fault
from conformance.adapters.flink.standalone import ClusterNode


class KillCoordinator(Fault):
    """Kill the coordinator. Its successor is started at once; the fault is over when that answers."""

    def inject(self, victim: ClusterNode, moment: str) -> str:  # noqa: ARG002 - it is a worker
        evidence = f"SIGKILL of {self._cluster.coordinator.description} when {moment}"
        self._cluster.kill_coordinator()
        return evidence

    def is_over(self) -> bool:
        return self._cluster.is_coordinator_ready()

    def lets_others_begin(self) -> bool:
        return False
