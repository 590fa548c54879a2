"""Liveness: every epoch of the input is committed at the end."""

from collections.abc import Iterator

from conformance.case import Case
from conformance.judge.verdict import Finding
from conformance.observation import Observations


def findings(case: Case, seen: Observations) -> Iterator[Finding]:
    """Find the streams that end before the input does. A run that ended in an error is not judged by this."""
    if seen.end == "error":
        return
    streams = seen.observations[-1].streams
    if seen.epochs == "own":
        taken = {source: sum(map(len, streams[source])) for source in case.graph.sources}
        whole = {source: sum(map(len, case.inputs[source])) for source in case.graph.sources}
        for source, events in taken.items():
            if events < whole[source]:
                because = f"At the end {events} of the {whole[source]} events of `{source}` are committed."
                yield Finding("stalled", because, len(seen.observations) - 1, source)
        wanted = max(map(len, streams.values()))
    else:
        wanted = case.epochs
    for stream in case.graph.streams:
        if stream in streams and len(streams[stream]) < wanted:
            because = f"At the end {len(streams[stream])} of {wanted} epochs of `{stream}` are committed."
            yield Finding("stalled", because, len(seen.observations) - 1, stream, len(streams[stream]) + 1)
            return
