"""
How long cases and recoveries took, and how many epochs were in flight: from what was observed, and when.

A recovery lasts from the failure until an observation shows an epoch more than the one before it did. Where an engine
gives no times, or no log, there is nothing to draw, and the report says so.
"""

from collections.abc import Iterator, Sequence

from attrs import define, field, frozen

from conformance.case import Case
from conformance.observation import Observations
from conformance.reports.charts import Histogram, draw_number_histogram, draw_time_histogram
from conformance.reports.labels import classify_failure
from conformance.reports.timeline import Act


@define
class Samples:
    """What is gathered of an engine, case by case."""

    cases: list[float] = field(factory=list)
    recoveries: dict[str, list[float]] = field(factory=dict)
    committed: list[int] = field(factory=list)
    in_flight: list[int] = field(factory=list)
    overlapped: list[int] = field(factory=list)

    def add(self, case: Case, seen: Observations, acts: Sequence[Act]) -> None:
        """One more run."""
        if not seen.observations:
            return
        if (t := seen.observations[-1].t) is not None and t >= 0:
            self.cases.append(t)
        for kind, lasted in recoveries(case, seen):
            self.recoveries.setdefault(kind, []).append(lasted)
        self.committed.append(_epochs(seen, len(seen.observations) - 1))
        if acts:
            self.in_flight.append(in_flight(case, acts))
        if seen.overlapped is not None:
            self.overlapped.append(seen.overlapped)


def _epochs(seen: Observations, index: int) -> int:
    """How many epochs every stream shows."""
    return min(map(len, seen.observations[index].streams.values()), default=0) if index >= 0 else 0


def recoveries(case: Case, seen: Observations) -> Iterator[tuple[str, float]]:
    """The kind of each failure whose time is known, and how long it took until something more was committed."""
    for fired in seen.fired:
        if fired.t is None or fired.failure >= len(case.failures):
            continue
        before = _epochs(seen, min(fired.before, len(seen.observations)) - 1)
        for index in range(fired.before, len(seen.observations)):
            t = seen.observations[index].t
            if t is not None and t >= fired.t and _epochs(seen, index) > before:
                yield classify_failure(case.failures[fired.failure]), t - fired.t
                break


def in_flight(case: Case, acts: Sequence[Act]) -> int:
    """The most epochs that were begun by some task and not yet done by all, at any moment of a log."""
    done = dict.fromkeys((task.name for task in case.graph.tasks), 0)
    begun = most = 0
    for act in acts:
        if act.do == "recover":
            common = min(done.values())
            done = dict.fromkeys(done, common)
            begun = common
        elif act.do in {"event", "border"} and act.task in done:
            begun = max(begun, act.epoch)
            most = max(most, begun - min(done.values()))
            if act.do == "border":
                done[act.task] = max(done[act.task], act.epoch)
    return most


@frozen
class Times:
    """An engine's distributions, and what is missing of them."""

    word: str
    histograms: tuple[Histogram, ...]
    missing: tuple[str, ...]


def times(word: str, samples: Samples) -> Times:
    """What was gathered, drawn."""
    histograms, missing = [], []
    if samples.cases:
        histograms.append(draw_time_histogram("Time of a case", samples.cases))
    else:
        missing.append("It gives no times, so how long cases and recoveries took is not known.")
    histograms += [
        draw_time_histogram(f"Recovery from a {kind}", each) for kind, each in sorted(samples.recoveries.items())
    ]
    if samples.cases and not samples.recoveries:
        missing.append("It gives no times of failures, so how long recoveries took is not known.")
    if samples.committed:
        histograms.append(draw_number_histogram("Epochs committed in a case", samples.committed))
    if samples.in_flight:
        histograms.append(draw_number_histogram("Epochs in flight at once", samples.in_flight))
    elif not samples.overlapped:
        missing.append("It does not log what its tasks do, so how many epochs were in flight at once is not known.")
    if samples.overlapped:
        histograms.append(draw_number_histogram("Epochs in a case with the next one in flight", samples.overlapped))
    return Times(word, tuple(histograms), tuple(missing))
