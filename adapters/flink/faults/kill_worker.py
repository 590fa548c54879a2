"""SIGKILL of a worker."""

from conformance.adapters.flink.faults.fault import Fault
from conformance.adapters.flink.roles import WORKERS
from conformance.adapters.flink.standalone import ClusterNode


class KillWorker(Fault):
    """Kill a worker that runs tasks of the case."""

    def inject(self, victim: ClusterNode, moment: str) -> str:
        standby = "with a standby" if len(self._cluster.registered_workers()) > WORKERS else "without a standby"
        self._cluster.kill_worker(victim)
        return f"SIGKILL of {victim.description}, {standby}, when {moment}"
