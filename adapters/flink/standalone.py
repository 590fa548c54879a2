"""
A Flink cluster of several parts that can be killed: a JobManager, TaskManagers, and a ZooKeeper that nobody harms.

Which parts there are, and that they are ready for a job, is the same whether they are processes or containers.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from time import monotonic, sleep
from typing import Any, Protocol

from conformance.adapters.flink.rest import Refused, Rest
from conformance.adapters.flink.roles import COORDINATOR, SLOTS, WORKER, WORKERS, ZOOKEEPER
from conformance.errors import EngineFailed

LOOK = 0.02
"""Seconds between two looks."""

READY = 90.0
"""Seconds for parts to be there."""

SETTLED = 60.0
"""Seconds for a cluster to be free again, after whatever was done to it; then it is started anew."""

OVER = {"FAILED", "CANCELED", "FINISHED", "SUSPENDED"}


class Part(Protocol):
    """A process or a container."""

    name: str

    @property
    def words(self) -> str:
        """What it is, in an evidence."""
        ...

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
        ...

    def kill(self) -> None:
        """SIGKILL; it is dead when this returns."""
        ...

    def freeze(self) -> None:
        """Let it stand still, so that one can look where it is."""
        ...

    def thaw(self) -> None:
        """Let it go on."""
        ...

    def last_words(self) -> str:
        """The end of what it has said."""
        ...


class Standalone(ABC):
    """The parts. A place says how one is started, and where REST is once a coordinator listens."""

    failures: tuple[str, ...] = ("crash", "restart", "kill")
    groups = SLOTS * WORKERS

    def __init__(self) -> None:
        self._numbers = count(1)
        self.parts: list[Part] = []
        self.workers: list[Part] = []
        self.rest = Rest("127.0.0.1", 0)

    @abstractmethod
    def start(self, role: str, name: str) -> Part:
        """Start a part."""

    @abstractmethod
    def listens(self, coordinator: Any) -> tuple[str, int] | None:
        """Where a coordinator's REST is found, if it is yet."""

    def begin(self) -> None:
        """Start all parts, and wait until they are ready."""
        try:
            self._part(ZOOKEEPER)
            self.coordinator = self._part(COORDINATOR)
            self.workers = [self._part(WORKER) for _ in range(WORKERS)]
            self.find_coordinator()
            self.wait_for_workers()
        except BaseException:
            self.end()
            raise

    def _part(self, role: str) -> Part:
        part = self.start(role, f"{role}-{next(self._numbers)}")
        self.parts.append(part)
        return part

    def end(self) -> None:
        """End all parts."""
        for part in reversed(self.parts):
            part.kill()
        self.parts, self.workers = [], []

    def stop(self) -> None:
        """End it."""
        self.end()

    # Workers

    def new_worker(self) -> Part:
        """Start another worker. It is not waited for."""
        self.workers.append(self._part(WORKER))
        return self.workers[-1]

    def registered(self) -> set[str]:
        """The workers that the coordinator knows of."""
        return {each["id"] for each in self.rest.get("/taskmanagers")["taskmanagers"]}

    def wait_for_workers(self) -> None:
        """Wait until the coordinator knows all that there are, and offers their slots."""

        def are_there() -> bool:
            wanted = {worker.name for worker in self.workers}
            slots = self.rest.get("/overview")["slots-total"] if wanted <= self.registered() else 0
            return int(slots) >= SLOTS * len(wanted)

        self._wait(are_there, self.workers, "its workers are not ready")

    def kill_worker(self, worker: Part) -> None:
        """SIGKILL."""
        worker.kill()
        self._forget(worker)

    def _forget(self, part: Part) -> None:
        self.parts.remove(part)
        if part in self.workers:
            self.workers.remove(part)

    # The coordinator

    def kill_coordinator(self) -> None:
        """SIGKILL; and at once another one is started, which has to find out by itself what there is to do."""
        self.coordinator.kill()
        self._forget(self.coordinator)
        self.coordinator = self._part(COORDINATOR)

    def find_coordinator(self) -> None:
        """Wait until the coordinator answers."""
        self._wait(self.has_coordinator, self.parts, "its coordinator does not answer")

    def has_coordinator(self) -> bool:
        """Whether the coordinator answers."""
        where = self.listens(self.coordinator)
        if where is not None:
            self.rest.move(*where)
            with suppress(Refused, OSError):
                return "taskmanagers" in self.rest.get("/overview")
        return False

    def _wait(self, is_so: Callable[[], bool], parts: list[Part], what: str, seconds: float = READY) -> None:
        until = monotonic() + seconds
        while True:
            try:
                if is_so():
                    return
            except (Refused, OSError, KeyError):
                pass  # It has just begun, or is a leader no more.
            if dead := [part for part in parts if not part.is_alive]:
                raise EngineFailed(f"{dead[0].words} has ended; it said: {dead[0].last_words()}")
            if monotonic() > until:
                raise EngineFailed(f"{what} after {seconds:g} s; {parts[-1].words} said: {parts[-1].last_words()}")
            sleep(LOOK)

    # Between two cases

    def settle(self, standbys: int) -> None:
        """
        Be ready for the next job: all slots are free, of two workers and however many it is to have beyond. Whatever is
        left of a job is cancelled; a cluster that does not come to rest is started anew.
        """
        wanted = WORKERS + standbys
        try:
            self._settle(wanted)
        except EngineFailed:
            self.end()
            self.begin()
            self._settle(wanted)

    def _settle(self, wanted: int) -> None:
        while len(self.workers) > wanted:
            self.kill_worker(self.workers[-1])
        while len(self.workers) < wanted:
            self.new_worker()
        self.find_coordinator()
        self._wait(self._is_free, [*self.workers, self.coordinator], "it is not free", SETTLED)

    def _is_free(self) -> bool:
        running = [job["jid"] for job in self.rest.get("/jobs/overview")["jobs"] if job["state"] not in OVER]
        for job in running:
            self.rest.ask("PATCH", f"/jobs/{job}")
        told = self.rest.get("/overview")
        slots = SLOTS * len(self.workers)
        is_whole = self.registered() == {worker.name for worker in self.workers}
        return not running and is_whole and told["slots-available"] == told["slots-total"] == slots
