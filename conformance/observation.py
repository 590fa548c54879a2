"""Observations: what an engine let us observe of a case, over time. Frozen, and validated on construction."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from attrs import field, frozen

from conformance.case import Case, Epochs, Graph, check_epochs
from conformance.errors import Malformed, inside, quote

EpochsBy: TypeAlias = Literal["given", "own"]
Snapshots: TypeAlias = Literal["aligned", "unaligned"]
End: TypeAlias = Literal["completed", "stalled", "error"]

ENDS = ("completed", "stalled", "error")


@frozen
class EngineInfo:
    """The engine's name, version and settings."""

    name: str = "unnamed"
    version: str = "unknown"
    settings: Mapping[str, Any] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        for name in ("name", "version"):
            value = getattr(self, name)
            if not isinstance(value, str):
                raise Malformed(quote(value), "a string", path=(name,))
        if not isinstance(self.settings, Mapping):
            raise Malformed(quote(self.settings), "an object", path=("settings",))


@frozen
class Observation:
    """The model's out(c) as an engine showed it at one moment: of each observed stream, the committed epochs."""

    streams: Mapping[str, Epochs]
    t: float | None = None

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.streams, Mapping):
            raise Malformed(
                quote(self.streams), "an object with the epochs of every observed stream", path=("streams",)
            )
        for stream, epochs in self.streams.items():
            with inside("streams", stream):
                check_epochs(epochs, least=0)
        _check_time(self.t)


@frozen
class Fired:
    """
    A failure that happened, and how the adapter knows.

    `failure` is its index in the case's failures, `before` the index of the first observation after it.
    """

    failure: int
    before: int
    evidence: str = ""
    t: float | None = None

    def __attrs_post_init__(self) -> None:
        for name in ("failure", "before"):
            value = getattr(self, name)
            if type(value) is not int or value < 0:
                raise Malformed(quote(value), "an index from 0", path=(name,))
        if not isinstance(self.evidence, str):
            raise Malformed(quote(self.evidence), "a string", path=("evidence",))
        _check_time(self.t)


def _check_time(t: object) -> None:
    if t is not None and (type(t) not in {int, float} or t != t):  # noqa: PLR0124 - NaN is the one that differs
        raise Malformed(quote(t), "a number of seconds", path=("t",))


@frozen
class Observations:
    """
    Everything that was observed of one run of a case, and how the run ended.

    An adapter makes them, the judge judges them.
    """

    case_digest: str
    observations: tuple[Observation, ...]
    engine: EngineInfo = field(factory=EngineInfo)
    epochs: EpochsBy = "given"
    atomic: bool = True
    snapshots: Snapshots = "aligned"
    fired: tuple[Fired, ...] = ()
    end: End = "completed"
    message: str | None = None
    log: tuple[Any, ...] = field(default=(), repr=False)
    overlapped: int | None = None
    """Number of epochs whose snapshot was still under way when the next one had begun, if the adapter knows."""
    in_flight: int | None = None
    """Number of bytes of in-flight messages that the snapshots hold, if the adapter knows."""
    place: str | None = None
    """Where the case ran, if the engine runs in several places: as threads of one process, or as processes."""

    def __attrs_post_init__(self) -> None:
        for name, allowed in (("epochs", ("given", "own")), ("snapshots", ("aligned", "unaligned")), ("end", ENDS)):
            value = getattr(self, name)
            if not isinstance(value, str) or value not in allowed:
                raise Malformed(quote(value), "one of " + ", ".join(allowed), path=(name,))
        if not isinstance(self.atomic, bool):
            raise Malformed(quote(self.atomic), "true or false", path=("atomic",))
        for name, unit in (("overlapped", "epochs"), ("in_flight", "bytes")):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 0):
                raise Malformed(quote(value), f"a number of {unit}", path=(name,))
        for name in ("message", "place"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise Malformed(quote(value), "a string", path=(name,))
        first = self.observations[0].streams.keys() if self.observations else ()
        for index, observation in enumerate(self.observations):
            if observation.streams.keys() != first:
                found = ", ".join(sorted(observation.streams)) or "none"
                wanted = f"the streams of the first observation: {', '.join(sorted(first))}"
                raise Malformed(found, wanted, path=("observations", index, "streams"))

    @property
    def observed(self) -> frozenset[str]:
        """The streams that were observed."""
        return frozenset(self.observations[0].streams) if self.observations else frozenset()

    @property
    def claims(self) -> tuple[object, ...]:
        """How the engine says it works; it has to say the same in its `Description`."""
        return (self.epochs, self.atomic, self.snapshots)

    def check_fit(self, case: Case, digest: str) -> None:
        """Refuse observations that are not of this case, or show too little of it to judge."""
        if self.case_digest != digest:
            raise Malformed(quote(self.case_digest), f"{digest}, as for this case: they are of another", path=("case",))
        for fired in self.fired:
            if fired.failure >= len(case.failures):
                raise Malformed(str(fired.failure), f"one of the case's {len(case.failures)} failures", path=("fired",))
        self.check_streams(case)

    def check_streams(self, case: Case) -> None:
        """Refuse observations that show streams the case does not have, or too few to judge."""
        if self.observations:
            _check_streams(self.observed, case.graph, own=self.epochs == "own")


def _check_streams(observed: frozenset[str], graph: Graph, *, own: bool) -> None:
    path = ("observations", 0, "streams")
    if strangers := observed - set(graph.streams):
        raise Malformed(quote(min(strangers)), f"streams of the case: {', '.join(graph.streams)}", path=path)
    if missing := set(graph.sinks) - observed:
        raise Malformed(f"nothing of {', '.join(sorted(missing))}", "at least every sink", path=path)
    if own and (missing := set(graph.sources) - observed):
        raise Malformed(
            f"nothing of {', '.join(sorted(missing))}", "every source, as epochs are the engine's", path=path
        )
