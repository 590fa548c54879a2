"""Checkpoints of the current job, through Flink's REST interface."""

from typing import Any

from attrs import define, field, frozen

from conformance.adapters.flink.committed import CommittedOutput
from conformance.adapters.flink.rest import RestClient

EMPTY_CHANNEL_BYTES = 8
"""Bytes that Flink writes for a channel with nothing in it. A multiple of these may be nothing, and is not counted."""


@frozen
class CheckpointShare:
    """The share that a chain of operators has in a checkpoint: whether it is done, and its bytes in flight."""

    is_done: bool
    in_flight: int


@define
class CheckpointApi:
    """Requests about checkpoints. While the job is being restored they may fail, with `RestError` or `OSError`."""

    rest: RestClient
    committed: CommittedOutput
    _chains: dict[str, str] = field(factory=dict)
    """Names of chains, by Flink's vertex ids, which follow from the names and outlive a restart."""

    @property
    def job(self) -> str:
        """Flink's id of the current job."""
        return self.committed.jobs[-1]

    def request(self) -> str:
        """Request a checkpoint, and return the id of the request."""
        return str(self.rest.post(f"/jobs/{self.job}/checkpoints", checkpointType="CONFIGURED")["request-id"])

    def outcome(self, request: str) -> dict[str, Any] | None:
        """Return the outcome of a request, with a `checkpointId` if it succeeded; None while it is under way."""
        answer = self.rest.get(f"/jobs/{self.job}/checkpoints/{request}")
        return dict(answer["operation"]) if answer["status"]["id"] == "COMPLETED" else None

    def under_way(self) -> int | None:
        """Return the number of the checkpoint that is under way, if there is one."""
        history = self.rest.get(f"/jobs/{self.job}/checkpoints")["history"]
        return next((each["id"] for each in history if each["status"] == "IN_PROGRESS"), None)

    def details(self, number: int) -> dict[str, Any]:
        """Return the details of a checkpoint."""
        return dict(self.rest.get(f"/jobs/{self.job}/checkpoints/details/{number}"))

    def shares(self, number: int) -> dict[str, CheckpointShare]:
        """Return the share of each chain of operators in a checkpoint, by the chain's name."""
        tasks = self.details(number)["tasks"]
        if not tasks.keys() <= self._chains.keys():
            vertices = self.rest.get(f"/jobs/{self.job}")["vertices"]
            self._chains |= {vertex["id"]: vertex["name"] for vertex in vertices}
        return {self._chains[vertex]: _share(task) for vertex, task in tasks.items()}


def _share(task: dict[str, Any]) -> CheckpointShare:
    held = int(task["persisted_data"])
    is_done = task["num_acknowledged_subtasks"] == task["num_subtasks"]
    return CheckpointShare(is_done, held if held % EMPTY_CHANNEL_BYTES else 0)


def first_operator(chain: str) -> str:
    """Return the name of the first operator in a chain."""
    return chain.partition(" ")[0]
