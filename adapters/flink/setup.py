"""Setup of Flink: the settings behind its name, each combination of which is an engine of its own."""

from collections.abc import Sequence
from typing import Any

from attrs import frozen

from conformance.case import Case, Kill
from conformance.errors import UnknownEngine, did_you_mean

EMBEDDED, PROCESSES, CONTAINERS = "embedded", "processes", "containers"
BY_CASE = "by case"
"""The place of a Flink that runs each case in the fastest place in which its failures are possible."""

EXACTLY_ONCE, AT_LEAST_ONCE, UNALIGNED = "exactly-once", "at-least-once", "unaligned"

NEVER = str(10**9)
"""Milliseconds between checkpoints that Flink takes by itself, where it is not to take any."""

KEY_GROUPS = 128
"""The maximum parallelism of a keyed sum, by which Flink finds the subtask of a key."""

OWN_INTERVAL = 40
"""Milliseconds between Flink's own checkpoints."""


@frozen
class FlinkSetup:
    """Where Flink runs, how it takes checkpoints, its state backend, and whether it places the borders itself."""

    place: str = BY_CASE
    mode: str = EXACTLY_ONCE
    backend: str = "hashmap"
    epochs: str = "given"
    claimed: str = ""
    subtasks: str = "one"

    @property
    def places(self) -> tuple[str, ...]:
        """The places in which cases run. Where Flink places the borders, kills are not possible."""
        if self.place != BY_CASE:
            return (self.place,)
        return (EMBEDDED,) if self.has_own_epochs else (EMBEDDED, PROCESSES)

    def place_of(self, case: Case) -> str:
        """Return the place in which a case runs: embedded Flink has no process of its own that could be killed."""
        return self.places[-1 if any(isinstance(failure, Kill) for failure in case.failures) else 0]

    @property
    def is_parallel(self) -> bool:
        """Whether keyed sums are spread over several subtasks."""
        return self.subtasks == "several"

    @property
    def has_own_epochs(self) -> bool:
        """Whether Flink decides when to take a checkpoint."""
        return self.epochs == "own"

    @property
    def snapshots(self) -> str:
        """The claim about snapshots: aligned or unaligned."""
        return self.claimed or ("unaligned" if self.mode == UNALIGNED else "aligned")

    @property
    def settings(self) -> dict[str, Any]:
        """The settings, for certificates."""
        return {
            "place": ", ".join(self.places),
            "checkpointing": self.mode,
            "state backend": self.backend,
            "epochs": self.epochs,
            "subtasks of a keyed sum": self.subtasks,
            "python": "thread",
        }

    def conf(self, folder: str) -> dict[str, str]:
        """Return the configuration of a job that stores its checkpoints in a folder."""
        mode = "AT_LEAST_ONCE" if self.mode == AT_LEAST_ONCE else "EXACTLY_ONCE"
        return {
            "python.execution-mode": "thread",
            "execution.checkpointing.interval": f"{OWN_INTERVAL} ms" if self.has_own_epochs else NEVER,
            "execution.checkpointing.min-pause": "0" if self.has_own_epochs else NEVER,
            "execution.checkpointing.mode": mode,
            "execution.checkpointing.unaligned.enabled": str(self.mode == UNALIGNED).lower(),
            # With the default, five subtasks share a file, and none is done before the slowest of them.
            "execution.checkpointing.unaligned.max-subtasks-per-channel-state-file": "1",
            "execution.checkpointing.timeout": "60 s",
            "execution.checkpointing.tolerable-failed-checkpoints": "1000000",
            "execution.checkpointing.storage": "filesystem",
            "execution.checkpointing.dir": f"file://{folder}/checkpoints",
            "execution.checkpointing.savepoint-dir": f"file://{folder}/savepoints",
            # With this, the metadata of a checkpoint has the names of the files that it commits. (Flink allocates a
            # buffer of this size for each state that an operator saves.)
            "execution.checkpointing.data-inline-threshold": "64 kb",
            "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": "1000000",
            "restart-strategy.fixed-delay.delay": "10 ms",
            "state.backend.type": self.backend,
            "execution.buffer-timeout.interval": "0 ms",
            # Every state of an operator has a table for each key group, so there are no more than necessary.
            "pipeline.max-parallelism": str(KEY_GROUPS if self.is_parallel else 1),
        }


SETTINGS: dict[str, tuple[str, str]] = {
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


def set_up(settings: Sequence[str]) -> FlinkSetup:
    """Return the setup with these settings. An unknown setting, or two that exclude each other, is an error."""
    chosen: dict[str, str] = {}
    for setting in settings:
        if setting not in SETTINGS:
            raise UnknownEngine(
                f"flink has no setting {setting!r}; it has {', '.join(SETTINGS)}{did_you_mean(setting, SETTINGS)}"
            )
        field, _ = SETTINGS[setting]
        if field in chosen:
            raise UnknownEngine(f"flink cannot be set up as {chosen[field]} and as {setting} at once")
        chosen[field] = setting
    return FlinkSetup(**{field: SETTINGS[setting][1] for field, setting in chosen.items()})
