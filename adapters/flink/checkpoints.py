"""What Flink says, through REST, of the checkpoints of the job that is running now."""

from typing import Any

from attrs import define, field, frozen

from conformance.adapters.flink.committed import Committed
from conformance.adapters.flink.rest import Rest

NOTHING = 8
"""Bytes that Flink writes for a channel with nothing in it: a whole number of these may be nothing, and is left out."""


@frozen
class Share:
    """What a chain of operators has to do with a checkpoint: whether it is done, and the bytes in flight it holds."""

    is_done: bool
    in_flight: int


@define
class Checkpoints:
    """Whoever is asked while the job is being restored may say no (`Refused`), or nothing (`OSError`)."""

    rest: Rest
    committed: Committed
    _names: dict[str, str] = field(factory=dict)
    """Of chains, by Flink's identities for them, which follow from the names and outlive a restart."""

    @property
    def job(self) -> str:
        """The job that is running now."""
        return self.committed.jobs[-1]

    def ask(self) -> str:
        """Ask for one; by what is returned the request is known."""
        return str(self.rest.post(f"/jobs/{self.job}/checkpoints", checkpointType="CONFIGURED")["request-id"])

    def outcome(self, request: str) -> dict[str, Any] | None:
        """What became of a request, with a `checkpointId` if that was a checkpoint; None while it is under way."""
        told = self.rest.get(f"/jobs/{self.job}/checkpoints/{request}")
        return dict(told["operation"]) if told["status"]["id"] == "COMPLETED" else None

    def under_way(self) -> int | None:
        """The number of the one that is under way, if one is."""
        history = self.rest.get(f"/jobs/{self.job}/checkpoints")["history"]
        return next((each["id"] for each in history if each["status"] == "IN_PROGRESS"), None)

    def details(self, number: int) -> dict[str, Any]:
        """All that is told of one."""
        return dict(self.rest.get(f"/jobs/{self.job}/checkpoints/details/{number}"))

    def shares(self, number: int) -> dict[str, Share]:
        """By the names in each chain of operators, what it has to do with a checkpoint."""
        tasks = self.details(number)["tasks"]
        if not tasks.keys() <= self._names.keys():
            told = self.rest.get(f"/jobs/{self.job}")["vertices"]
            self._names |= {vertex["id"]: vertex["name"] for vertex in told}
        return {self._names[vertex]: _share(task) for vertex, task in tasks.items()}


def _share(task: dict[str, Any]) -> Share:
    held = int(task["persisted_data"])
    return Share(task["num_acknowledged_subtasks"] == task["num_subtasks"], held if held % NOTHING else 0)


def first(chain: str) -> str:
    """The first name in a chain of operators."""
    return chain.partition(" ")[0]
