"""Partition of a worker from its network."""

import logging
from time import monotonic

from conformance.adapters.flink.faults.context import FaultContext
from conformance.adapters.flink.faults.fault import Fault
from conformance.adapters.flink.standalone import ClusterNode

LOGGER = logging.getLogger("conformance.adapters.flink")


class PartitionWorker(Fault):
    """Disconnect a worker from its network, and reconnect it after so many seconds."""

    def __init__(self, context: FaultContext, seconds: float) -> None:
        super().__init__(context)
        self._seconds = seconds
        self._disconnected: ClusterNode | None = None
        self._reconnect_at = 0.0

    def inject(self, victim: ClusterNode, moment: str) -> str:
        victim.disconnect()
        self._disconnected, self._reconnect_at = victim, monotonic() + self._seconds
        return f"{victim.description} was cut off its network for {self._seconds:g} s when {moment}"

    def is_over(self) -> bool:
        if self._disconnected is not None and monotonic() > self._reconnect_at:
            self.stop()
        return self._disconnected is None

    def stop(self) -> None:
        if self._disconnected is not None:
            self._disconnected.reconnect()
            LOGGER.info("cluster: reconnected %s", self._disconnected.description)
            self._disconnected = None
