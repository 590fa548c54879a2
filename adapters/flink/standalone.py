"""
A Flink cluster of several nodes that can be killed: a JobManager (coordinator), TaskManagers (workers), a ZooKeeper.

Which nodes there are, and when they are ready for a job, is the same for processes and containers.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from time import monotonic, sleep
from typing import Any, Protocol

from conformance.adapters.flink.rest import LOOPBACK, TERMINAL, RestClient, RestError
from conformance.adapters.flink.roles import COORDINATOR, WORKER, WORKER_SLOTS, WORKERS, ZOOKEEPER
from conformance.errors import EngineFailed

LOGGER = logging.getLogger("conformance.adapters.flink")

POLL_SECONDS = 0.02

START_SECONDS = 90.0
"""Seconds for nodes to start."""

PREPARE_SECONDS = 60.0
"""Seconds for a cluster to be free again after a job; then it is started anew."""


class ClusterNode(Protocol):
    """A process or a container of a cluster."""

    name: str

    @property
    def description(self) -> str:
        """What it is, for evidence and errors."""
        ...

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
        ...

    def kill(self) -> None:
        """Send SIGKILL, and return when it is dead."""
        ...

    def suspend(self) -> None:
        """Send SIGSTOP: it does nothing until it is resumed."""
        ...

    def resume(self) -> None:
        """Send SIGCONT."""
        ...

    def disconnect(self) -> None:
        """Disconnect it from its network."""
        ...

    def reconnect(self) -> None:
        """Connect it to its network again."""
        ...

    def last_output(self) -> str:
        """Return the end of its output."""
        ...


class StandaloneCluster(ABC):
    """The nodes of a cluster. Subclasses say how a node is started, and where a coordinator's REST interface is."""

    failures: tuple[str, ...] = ("crash", "restart", "kill")
    slot_groups = WORKER_SLOTS * WORKERS

    def __init__(self) -> None:
        self._numbers = count(1)
        self.nodes: list[ClusterNode] = []
        self.workers: list[ClusterNode] = []
        self.rest = RestClient(LOOPBACK, 0)

    @abstractmethod
    def start_node(self, role: str, name: str) -> ClusterNode:
        """Start a node."""

    @abstractmethod
    def rest_address(self, coordinator: Any) -> tuple[str, int] | None:
        """Return host and port of a coordinator's REST interface, once it has one."""

    def start(self) -> None:
        """Start all nodes, and wait until they are ready."""
        try:
            self._start(ZOOKEEPER)
            self.coordinator = self._start(COORDINATOR)
            self.workers = [self._start(WORKER) for _ in range(WORKERS)]
            self._wait_for_coordinator()
            self._wait_for_workers()
        except BaseException:
            self.stop_nodes()
            raise

    def _start(self, role: str) -> ClusterNode:
        node = self.start_node(role, f"{role}-{next(self._numbers)}")
        self.nodes.append(node)
        LOGGER.info("cluster: started %s", node.description)
        return node

    def stop_nodes(self) -> None:
        """Stop all nodes."""
        for node in reversed(self.nodes):
            node.kill()
        self.nodes, self.workers = [], []

    def stop(self) -> None:
        """Stop all nodes, and remove all that belongs to the cluster."""
        self.stop_nodes()

    # Workers

    def start_worker(self) -> None:
        """Start another worker, and do not wait for it."""
        self.workers.append(self._start(WORKER))

    def registered_workers(self) -> set[str]:
        """Return the names of the workers that the coordinator knows."""
        return {each["id"] for each in self.rest.get("/taskmanagers")["taskmanagers"]}

    def _wait_for_workers(self) -> None:
        """Wait until the coordinator knows all workers, and offers their slots."""

        def are_ready() -> bool:
            wanted = {worker.name for worker in self.workers}
            slots = self.rest.get("/overview")["slots-total"] if wanted <= self.registered_workers() else 0
            return int(slots) >= WORKER_SLOTS * len(wanted)

        self._wait(are_ready, self.workers, "its workers are not ready")

    def kill_worker(self, worker: ClusterNode) -> None:
        """Kill a worker (SIGKILL)."""
        worker.kill()
        LOGGER.info("cluster: killed %s", worker.description)
        self.nodes.remove(worker)
        self.workers.remove(worker)

    # The coordinator

    def kill_coordinator(self) -> None:
        """Kill the coordinator (SIGKILL), and start another one, which finds its jobs through ZooKeeper."""
        self.coordinator.kill()
        LOGGER.info("cluster: killed %s", self.coordinator.description)
        self.nodes.remove(self.coordinator)
        self.coordinator = self._start(COORDINATOR)

    def _wait_for_coordinator(self) -> None:
        self._wait(self.is_coordinator_ready, self.nodes, "its coordinator does not answer")

    def is_coordinator_ready(self) -> bool:
        """Tell whether the coordinator answers."""
        address = self.rest_address(self.coordinator)
        if address is not None:
            self.rest.move(*address)
            with suppress(RestError, OSError):
                return "taskmanagers" in self.rest.get("/overview")
        return False

    @staticmethod
    def _wait(
        condition: Callable[[], bool], nodes: Sequence[ClusterNode], failure: str, seconds: float = START_SECONDS
    ) -> None:
        deadline = monotonic() + seconds
        while True:
            # A coordinator that has just begun, or does not lead any more, cannot answer.
            with suppress(RestError, OSError, KeyError):
                if condition():
                    return
            if dead := [node for node in nodes if not node.is_alive]:
                raise EngineFailed(f"{dead[0].description} has ended; it said: {dead[0].last_output()}")
            if monotonic() > deadline:
                last = nodes[-1]
                raise EngineFailed(f"{failure} after {seconds:g} s; {last.description} said: {last.last_output()}")
            sleep(POLL_SECONDS)

    # Between two jobs

    def prepare(self, standbys: int) -> None:
        """
        Make the cluster ready for the next job: two workers and that many standbys, whose slots are all free.

        Jobs that still run are cancelled. A cluster that does not become free is started anew.
        """
        workers = WORKERS + standbys
        try:
            self._prepare(workers)
        except EngineFailed as error:
            LOGGER.info("cluster: started anew, because %s", error)
            self.stop_nodes()
            self.start()
            self._prepare(workers)

    def _prepare(self, workers: int) -> None:
        while len(self.workers) > workers:
            self.kill_worker(self.workers[-1])
        while len(self.workers) < workers:
            self.start_worker()
        self._wait_for_coordinator()
        self._wait(self._is_free, [*self.workers, self.coordinator], "it is not free", PREPARE_SECONDS)

    def _is_free(self) -> bool:
        running = [job["jid"] for job in self.rest.get("/jobs/overview")["jobs"] if job["state"] not in TERMINAL]
        for job in running:
            self.rest.patch(f"/jobs/{job}")
        overview = self.rest.get("/overview")
        slots = WORKER_SLOTS * len(self.workers)
        is_whole = self.registered_workers() == {worker.name for worker in self.workers}
        return not running and is_whole and overview["slots-available"] == overview["slots-total"] == slots
