"""
Histograms of an engine's times: of cases and recoveries, and how many epochs were committed or in flight.

A recovery lasts from the failure until an observation shows more epochs than the one before the failure. Where an
engine reports no times or no log, there is no histogram, and the report says so.
"""

from collections.abc import Iterator

from attrs import define, field, frozen

from conformance.case import Case
from conformance.observation import Observations
from conformance.reports.charts import Histogram, draw_number_histogram, draw_time_histogram
from conformance.reports.labels import classify_failure
from conformance.reports.timeline import Timeline


@define
class Samples:
    """Samples of an engine's runs, collected case by case."""

    cases: list[float] = field(factory=list)
    recoveries: dict[str, list[float]] = field(factory=dict)
    committed: list[int] = field(factory=list)
    in_flight: list[int] = field(factory=list)
    overlapped: list[int] = field(factory=list)

    def add(self, case: Case, observed: Observations, timeline: Timeline) -> None:
        """Add the samples of one run."""
        if not observed.observations:
            return
        if (t := observed.observations[-1].t) is not None and t >= 0:
            self.cases.append(t)
        for kind, seconds in measure_recoveries(case, observed):
            self.recoveries.setdefault(kind, []).append(seconds)
        self.committed.append(_count_epochs(observed, len(observed.observations) - 1))
        if timeline:
            self.in_flight.append(count_epochs_in_flight(case, timeline))
        if observed.overlapped is not None:
            self.overlapped.append(observed.overlapped)


def _count_epochs(observed: Observations, index: int) -> int:
    """Count the epochs that every stream of an observation shows."""
    return min(map(len, observed.observations[index].streams.values()), default=0) if index >= 0 else 0


def measure_recoveries(case: Case, observed: Observations) -> Iterator[tuple[str, float]]:
    """Yield the kind of each failure whose time is known, and the seconds until one more epoch was committed."""
    for fired in observed.fired:
        if fired.t is None or fired.failure >= len(case.failures):
            continue
        before = _count_epochs(observed, min(fired.before, len(observed.observations)) - 1)
        for index in range(fired.before, len(observed.observations)):
            t = observed.observations[index].t
            if t is not None and t >= fired.t and _count_epochs(observed, index) > before:
                yield classify_failure(case.failures[fired.failure]), t - fired.t
                break


def count_epochs_in_flight(case: Case, timeline: Timeline) -> int:
    """Count the epochs in flight, at most: begun by some task and not yet completed by all tasks."""
    completed = dict.fromkeys((task.name for task in case.graph.tasks), 0)
    begun = most = 0
    for entry in timeline:
        if entry.kind == "recover":
            common = min(completed.values())
            completed = dict.fromkeys(completed, common)
            begun = common
        elif entry.kind in {"event", "border"} and entry.task in completed:
            begun = max(begun, entry.epoch)
            most = max(most, begun - min(completed.values()))
            if entry.kind == "border":
                completed[entry.task] = max(completed[entry.task], entry.epoch)
    return most


@frozen
class EngineTimes:
    """An engine's histograms, and a sentence for each that is missing."""

    engine: str
    histograms: tuple[Histogram, ...]
    missing: tuple[str, ...]


def draw_times(engine: str, samples: Samples) -> EngineTimes:
    """Draw the histograms of the samples."""
    histograms, missing = [], []
    if samples.cases:
        histograms.append(draw_time_histogram("Time of a case", samples.cases))
    else:
        missing.append("It gives no times, so how long cases and recoveries took is not known.")
    for kind, seconds in sorted(samples.recoveries.items()):
        histograms.append(draw_time_histogram(f"Recovery from a {kind}", seconds))
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
    return EngineTimes(engine, tuple(histograms), tuple(missing))
