"""Consistency of observations with each other: a committed epoch is shown whole, for good, by all streams at once."""

from collections.abc import Iterator
from itertools import pairwise

from conformance.case import Case, Epochs
from conformance.judge.sequences import agreement
from conformance.judge.verdict import Finding
from conformance.observation import Observation, Observations


def findings(case: Case, seen: Observations) -> Iterator[Finding]:
    """Yield the first contradiction between observations for each diagnosis and stream."""
    told: set[tuple[str, str | None]] = set()
    for finding in _all(case, seen):
        if (finding.diagnosis, finding.stream) not in told:
            told.add((finding.diagnosis, finding.stream))
            yield finding


def _all(case: Case, seen: Observations) -> Iterator[Finding]:
    for index, observation in enumerate(seen.observations):
        if seen.atomic:
            yield from _torn(index, observation)
    for index, (before, after) in enumerate(pairwise(seen.observations), start=1):
        for stream in case.graph.streams:
            if stream in before.streams:
                yield from _changed(index, stream, before.streams[stream], after.streams[stream])


def _torn(index: int, observation: Observation) -> Iterator[Finding]:
    counts = {stream: len(epochs) for stream, epochs in observation.streams.items()}
    most, least = max(counts, key=counts.__getitem__), min(counts, key=counts.__getitem__)
    if counts[most] != counts[least]:
        because = (
            f"Observation {index} shows {_epochs(counts[most])} of `{most}` and {_epochs(counts[least])} of `{least}`. "
            "The engine says that it commits all streams in one act, so they must be seen at the same epoch."
        )
        yield Finding("torn", because, observation=index, stream=least, epoch=counts[least] + 1)


def _changed(index: int, stream: str, before: Epochs, after: Epochs) -> Iterator[Finding]:
    same = agreement(before, after)
    if same == len(before):
        return
    if same == len(after):
        because = (
            f"Observation {index - 1} showed {_epochs(len(before))} of `{stream}`, observation {index} shows "
            f"{_epochs(len(after))}. What was once committed must stay."
        )
        yield Finding("retracted", because, index, stream, same + 1, 0, expected=before[same])
        return
    old, new = before[same], after[same]
    place = agreement(old, new)
    if place == len(old) and same == len(before) - 1:
        because = (
            f"Observation {index - 1} showed epoch {same + 1} of `{stream}` with {_events(len(old))}, observation "
            f"{index} shows it with {len(new)}. The epoch was visible before it was committed."
        )
        yield Finding("dirty", because, index - 1, stream, same + 1, place, observed=old)
    else:
        because = (
            f"Epoch {same + 1} of `{stream}` was one thing in observation {index - 1} and is another in observation "
            f"{index}, from position {place} on. What was once committed must stay as it is."
        )
        yield Finding("retracted", because, index, stream, same + 1, place, expected=old, observed=new)


def _epochs(number: int) -> str:
    return "1 epoch" if number == 1 else f"{number} epochs"


def _events(number: int) -> str:
    return "1 event" if number == 1 else f"{number} events"
