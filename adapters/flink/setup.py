"""How Flink is set up: what the settings behind its name mean, each an engine of its own in the matrix."""

from collections.abc import Sequence
from typing import Any

from attrs import frozen

from conformance.errors import UnknownEngine

EMBEDDED, PROCESSES, CONTAINERS = "embedded", "processes", "containers"
EXACTLY_ONCE, AT_LEAST_ONCE, UNALIGNED = "exactly-once", "at-least-once", "unaligned"

NEVER = str(10**9)
"""Milliseconds between checkpoints that nobody asked for."""

KEY_GROUPS = 128
"""The most subtasks that an operator with several could have: by that Flink finds the subtask of a key."""

OFTEN = 40
"""Milliseconds between Flink's own checkpoints."""


@frozen
class Setup:
    """Where it runs, how it takes its checkpoints, where tasks keep their state, and who places the borders."""

    place: str = EMBEDDED
    mode: str = EXACTLY_ONCE
    backend: str = "hashmap"
    epochs: str = "given"
    claimed: str = ""
    subtasks: str = "one"

    @property
    def is_parallel(self) -> bool:
        """Whether keyed sums are spread over several subtasks."""
        return self.subtasks == "several"

    @property
    def is_own(self) -> bool:
        """Whether Flink decides when to take a checkpoint."""
        return self.epochs == "own"

    @property
    def snapshots(self) -> str:
        """What is claimed of the snapshots."""
        return self.claimed or ("unaligned" if self.mode == UNALIGNED else "aligned")

    @property
    def settings(self) -> dict[str, Any]:
        """What a reader of a certificate wants to know."""
        return {
            "place": self.place,
            "checkpointing": self.mode,
            "state backend": self.backend,
            "epochs": self.epochs,
            "subtasks of a keyed sum": self.subtasks,
            "python": "thread",
        }

    def conf(self, folder: str) -> dict[str, str]:
        """A job's configuration; `folder` is for what it makes durable."""
        mode = "AT_LEAST_ONCE" if self.mode == AT_LEAST_ONCE else "EXACTLY_ONCE"
        return {
            "python.execution-mode": "thread",
            "execution.checkpointing.interval": f"{OFTEN} ms" if self.is_own else NEVER,
            "execution.checkpointing.min-pause": "0" if self.is_own else NEVER,
            "execution.checkpointing.mode": mode,
            "execution.checkpointing.unaligned.enabled": str(self.mode == UNALIGNED).lower(),
            # Else nobody's snapshot is done before the slowest of five.
            "execution.checkpointing.unaligned.max-subtasks-per-channel-state-file": "1",
            "execution.checkpointing.timeout": "60 s",
            "execution.checkpointing.tolerable-failed-checkpoints": "1000000",
            "execution.checkpointing.storage": "filesystem",
            "execution.checkpointing.dir": f"file://{folder}/checkpoints",
            "execution.checkpointing.savepoint-dir": f"file://{folder}/savepoints",
            # So that what a checkpoint is to commit stands in its metadata, and can be read there. (Of this size is a
            # buffer that Flink makes for everything that any operator saves.)
            "execution.checkpointing.data-inline-threshold": "64 kb",
            "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": "1000000",
            "restart-strategy.fixed-delay.delay": "10 ms",
            "state.backend.type": self.backend,
            "execution.buffer-timeout.interval": "0 ms",
            # Each of so many groups of keys has a table of its own in every state that an operator keeps.
            "pipeline.max-parallelism": str(KEY_GROUPS if self.is_parallel else 1),
        }


WORDS: dict[str, tuple[str, str]] = {
    "embedded": ("place", EMBEDDED),
    "processes": ("place", PROCESSES),
    "containers": ("place", CONTAINERS),
    "exactly-once": ("mode", EXACTLY_ONCE),
    "at-least-once": ("mode", AT_LEAST_ONCE),
    "unaligned": ("mode", UNALIGNED),
    "hashmap": ("backend", "hashmap"),
    "rocksdb": ("backend", "rocksdb"),
    "given-epochs": ("epochs", "given"),
    "own-epochs": ("epochs", "own"),
    "claimed-aligned": ("claimed", "aligned"),
    "parallel": ("subtasks", "several"),
}


def set_up(words: Sequence[str]) -> Setup:
    """What these settings come to. Whatever is unknown, or said twice, is refused."""
    said: dict[str, str] = {}
    for word in words:
        if word not in WORDS:
            raise UnknownEngine(f"flink has no setting {word!r}; it has {', '.join(WORDS)}")
        field, _ = WORDS[word]
        if field in said:
            raise UnknownEngine(f"flink cannot be set up as {said[field]} and as {word} at once")
        said[field] = word
    return Setup(**{field: WORDS[word][1] for field, word in said.items()})
