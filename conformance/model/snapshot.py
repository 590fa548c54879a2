"""What is durable, and what an observer may rely on: gce, out and lcs."""

from bisect import bisect_right
from typing import TypeAlias

from conformance.case import Epochs
from conformance.model.configuration import BD, Configuration, Data, Log, Message

Out: TypeAlias = dict[str, Epochs]
"""out by stream: the events of every committed epoch; the borders are implied, as each closes its epoch."""


def gce(c: Configuration) -> int:
    """Return the greatest common epoch: the newest that every task has archived."""
    return min([len(archive) for archive, _ in c.states.values()]) - 1


def epoch_of(c: Configuration, task: str) -> int:
    """
    Return the epoch of a task's next step, or, if it has failed, of its last normal state.

    A task in epoch e has archived 0..e-1, failed or not, so the archive tells.
    """
    archive, _ = c.states[task]
    return len(archive)


def committed(log: Log[Data], epoch: int) -> int:
    """
    Count the messages of a stream that belong to epochs up to `epoch`.

    Epochs never decrease along a stream (well-formedness), so the committed messages are a prefix.
    """
    return bisect_right(log, epoch, key=lambda data: data[0])


def out(c: Configuration) -> set[Message]:
    """Return out(c) = { n s <e, d> in M : e <= gce(c) }, as the paper writes it."""
    epoch = gce(c)
    return {message for message in c.message_set() if message[2][0] <= epoch}


def observed(c: Configuration) -> Out:
    """Return out(c) as epochs of events by stream."""
    epoch = gce(c)
    return {stream: _epochs(log, epoch) for stream, log in c.messages.items()}


def _epochs(log: Log[Data], last: int) -> Epochs:
    epochs: list[list[int | str]] = [[] for _ in range(last)]
    for index in range(committed(log, last)):
        e, w = log[index]
        if w is not BD:
            epochs[e - 1].append(w)
    return tuple(map(tuple, epochs))


def lcs(c: Configuration) -> Configuration:
    """
    Return the latest common snapshot: c with everything after gce(c) forgotten.

    Every archive keeps its epochs up to gce, every task restarts from its snapshot of gce, the streams keep
    what was committed (the sources everything), and all go on behind the last committed message.
    """
    epoch = gce(c)
    lengths = {stream: committed(log, epoch) for stream, log in c.messages.items()}
    return Configuration(
        dataflow=c.dataflow,
        states={
            name: (archive.first(epoch + 1), (epoch + 1, archive[epoch])) for name, (archive, _) in c.states.items()
        },
        numbers={name: {stream: lengths[stream] for stream in numbers} for name, numbers in c.numbers.items()},
        messages={
            stream: c.dataflow.initial[stream] if len(c.dataflow.initial[stream]) else log.first(lengths[stream])
            for stream, log in c.messages.items()
        },
    )
