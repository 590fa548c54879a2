"""
Messages of the control channel, and their formats.

Operators report status messages to the driver; the driver signals commands to the operators. Every message is a frozen
value. `docs/engines/flink-control-channel.md` lists all of them.
"""

from enum import StrEnum
from typing import ClassVar, TypeAlias

from attrs import astuple, field, frozen
from attrs.validators import matches_re

from conformance.errors import EngineFailed


class Gate(StrEnum):
    """A point at which an operator waits until the driver releases it."""

    EPOCH_START = "epoch-start"
    """Before a task handles anything of an epoch."""
    BORDER = "border"
    """Before a task passes the border of an epoch."""
    CHECKPOINT = "checkpoint"
    """Before a checkpoint blocker lets a checkpoint pass; numbered by how often this attempt has blocked one."""


GateEpochs: TypeAlias = frozenset[tuple[Gate, int]]
"""The gates of a task that are closed, each with its epoch."""


def source_name(stream: str) -> str:
    """Return the operator name of the source that plays a stream."""
    return f"source:{stream}"


@frozen
class StatusMessage:
    """What an operator did, in which attempt. An attempt lasts from an operator's opening to its next failure."""

    kind: ClassVar[str]
    operator: str = field(validator=matches_re(r"\S+"))
    attempt: str = field(validator=matches_re(r"\w+"))


@frozen
class AttemptOpening(StatusMessage):
    """The operator is about to open, and waits for as long as restores are delayed."""

    kind = "opening"


@frozen
class AttemptOpened(StatusMessage):
    """The operator begins a new attempt."""

    kind = "opened"


@frozen
class BorderPassed(StatusMessage):
    """The operator passed the border of an epoch, or was restored behind it."""

    kind = "border-passed"
    epoch: int = field(converter=int)


@frozen
class GateReached(StatusMessage):
    """The operator waits at a gate; `number` is the epoch or, at a checkpoint gate, counts the waits of the attempt."""

    kind = "gate-reached"
    gate: Gate = field(converter=Gate)
    number: int = field(converter=int)


@frozen
class StatusReport:
    """A status message, and when it was reported (Unix time)."""

    time: float
    message: StatusMessage


@frozen
class Command:
    """A permission or a demand of the driver."""

    kind: ClassVar[str]


@frozen
class PlayEpoch(Command):
    """Every source may play this epoch, because the epoch before it is committed."""

    kind = "play-epoch"
    epoch: int = field(converter=int)


@frozen
class AttemptCommand(Command):
    """A command to one attempt of an operator; a later attempt does not obey it."""

    attempt: str = field(validator=matches_re(r"\w+"))


@frozen
class PlayAhead(AttemptCommand):
    """A source may play an epoch while the checkpoint of the epoch before is under way."""

    kind = "play-ahead"
    epoch: int = field(converter=int)


@frozen
class RollBack(AttemptCommand):
    """A source has to fail, because it played ahead of a checkpoint that was abandoned."""

    kind = "roll-back"


@frozen
class ReleaseGate(AttemptCommand):
    """The operator may go on from a gate that it waits at."""

    kind = "release-gate"
    gate: Gate = field(converter=Gate)
    number: int = field(converter=int)


@frozen
class BlockCheckpoint(AttemptCommand):
    """A checkpoint blocker has to wait at its gate; `number` counts from 0 in each attempt."""

    kind = "block-checkpoint"
    number: int = field(converter=int)


@frozen
class DelayRestore(Command):
    """Operators that are about to open wait until this command is revoked."""

    kind = "delay-restore"


STATUS_MESSAGES = {each.kind: each for each in (AttemptOpening, AttemptOpened, BorderPassed, GateReached)}


def format_report(report: StatusReport) -> str:
    """Format a status message as a line, without its end."""
    message = report.message
    return " ".join([f"{report.time:.4f}", message.kind, *map(str, astuple(message))])


def parse_report(line: str) -> StatusReport:
    """Parse a line of `format_report`."""
    try:
        time, kind, *fields = line.split(" ")
        return StatusReport(float(time), STATUS_MESSAGES[kind](*fields))
    except (ValueError, TypeError, KeyError):
        raise EngineFailed(f"the control channel has no status message {line!r}") from None


def format_command(command: Command) -> str:
    """Format a command as the name of a file. Operators only look whether there is a file of this name."""
    return ".".join([command.kind, *map(str, astuple(command))])
