"""Well-formedness (Def0 of the paper's liveness proof), which every reachable configuration has."""

from collections.abc import Iterator

from conformance.model.configuration import BD, Configuration, Data, Log


def faults(c: Configuration) -> Iterator[str]:
    """
    Find what is not well formed about c; nothing, if c is well formed.

    Every stream runs through epochs 1, 2, ... without a gap, each closed by its border; the sources hold what they
    held at the start; and every task, failed or not, has consumed and produced exactly what its archive says: with
    epochs up to k archived, k borders of every input and of its output are behind it, and it is in epoch k + 1.
    """
    for stream, log in c.messages.items():
        initially = c.dataflow.initial[stream]
        if not _runs_through_epochs(log):
            yield f"{stream} does not run through its epochs"
        if len(initially) and log != initially:
            yield f"source {stream} is not what it was"
    for name in c.states:
        yield from _faults_of(c, name)


def _faults_of(c: Configuration, name: str) -> Iterator[str]:
    processor = c.dataflow.processors[name]
    numbers = c.numbers[name]
    archive, volatile = c.states[name]
    archived = len(archive) - 1
    if volatile is not None and volatile[0] != archived + 1:
        yield f"{name} is in epoch {volatile[0]} and has archived {archived}"
    if set(numbers) != {*processor.inputs, processor.output}:
        yield f"{name} has numbers for other streams than its own"
    if numbers[processor.output] != len(c.messages[processor.output]):
        yield f"{name} does not write behind the end of {processor.output}"
    for stream, number in numbers.items():
        if number > len(c.messages[stream]):
            yield f"{name} has read past the end of {stream}"
        if _borders(c.messages[stream].first(number)) != archived:
            yield f"{name} has archived {archived} epochs, and not as many borders of {stream} are behind it"


def _runs_through_epochs(log: Log[Data]) -> bool:
    epoch = 1
    for e, w in log:
        if e != epoch:
            return False
        if w is BD:
            epoch += 1
    return True


def _borders(log: Log[Data]) -> int:
    return sum(w is BD for _, w in log)
