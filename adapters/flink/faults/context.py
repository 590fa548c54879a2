"""The running case and its cluster, as faults and phases see them."""

from collections.abc import Collection
from random import Random
from time import monotonic, sleep

from attrs import frozen

from conformance.adapters.flink.case_run import CaseRun
from conformance.adapters.flink.checkpoints import CheckpointApi
from conformance.adapters.flink.standalone import ClusterNode, StandaloneCluster

COMPLETION_SECONDS = 10.0
"""Seconds for a checkpoint to complete that nothing blocks any more."""

POLL_SECONDS = 0.002


@frozen
class CheckpointUnderWay:
    """A checkpoint that is under way: its number, the chains of operators that are done with it, and all chains."""

    number: int
    done: frozenset[str]
    chains: frozenset[str]


@frozen
class FaultContext:
    """What the faults of one case share. Requests to the cluster may fail while it recovers."""

    run: CaseRun
    cluster: StandaloneCluster
    checkpoints: CheckpointApi
    random: Random

    def all_workers_registered(self) -> bool:
        """Tell whether the coordinator knows all workers."""
        return {worker.name for worker in self.cluster.workers} <= self.cluster.registered_workers()

    def workers_by_chain(self) -> dict[str, str]:
        """Return the name of the worker of each chain of operators; nothing while not all of them run."""
        vertices = self.vertices()
        if any(vertex["status"] != "RUNNING" for vertex in vertices):
            return {}
        return {vertex["name"]: self.worker_of(vertex["id"]) for vertex in vertices}

    def vertices(self) -> list[dict[str, str]]:
        """Return the vertices of the job, each a chain of operators, as REST has them."""
        return list(self.cluster.rest.get(f"/jobs/{self.checkpoints.job}")["vertices"])

    def worker_of(self, vertex: str) -> str:
        """Return the name of the worker that a vertex runs on."""
        (subtask, *_) = self.cluster.rest.get(f"/jobs/{self.checkpoints.job}/vertices/{vertex}")["subtasks"]
        return str(subtask["taskmanager-id"])

    def workers(self, names: Collection[str]) -> list[ClusterNode]:
        """Return the workers with these names."""
        return [worker for worker in self.cluster.workers if worker.name in names]

    def checkpoint_under_way(self) -> CheckpointUnderWay | None:
        """Return the checkpoint that is under way, if there is one."""
        number = self.checkpoints.under_way()
        if number is None:
            return None
        shares = self.checkpoints.shares(number)
        done = frozenset(chain for chain, share in shares.items() if share.is_done)
        return CheckpointUnderWay(number, done, frozenset(shares))

    def completes(self, number: int) -> bool:
        """Wait for a checkpoint, and tell whether it is complete. Then the files that it commits are known."""
        deadline = monotonic() + COMPLETION_SECONDS
        while monotonic() < deadline:
            status = self.checkpoints.details(number)["status"]
            if status != "IN_PROGRESS":
                self.checkpoints.committed.update()
                return bool(status == "COMPLETED")
            sleep(POLL_SECONDS)
        return False
