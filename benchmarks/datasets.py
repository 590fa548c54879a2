"""
`check --on`: ten million observed rows on a driver with 4 GB.

They conform, or have one wrong row, which the verdict must name exactly. The check runs on one core and on two. (The
environment variable EPOCHS sets another number of epochs than a thousand.) Wall time depends on other work on the
machine; the CPU time of Spark and its Python workers together hardly does.
"""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from resource import RUSAGE_SELF, getrusage
from time import perf_counter
from typing import Any

import numpy as np
from psutil import Process

from conformance.case import Case, Graph, Task
from conformance.codec.cases import content, digest
from conformance.codec.datasets import encode_case_beside, encode_observations_beside
from conformance.judge import Conforms, Verdict, Violates
from conformance.observation import Observation, Observations
from conformance.pipeline import cluster
from conformance.pipeline.check import read_request
from conformance.pipeline.writer import INPUTS, SEEN, write_json_files, write_table
from conformance.programs import Average, Digest, Distinct, KeyedSum, Map, P, Sum

EPOCHS = int(os.environ.get("EPOCHS", "1000"))
EARLIER = EPOCHS * 16 // 100
"""The number of epochs in the first of the two observations."""

EVENTS = {"ints": 1250, "left": 250, "right": 250}
"""The number of events in an epoch of each source."""

GRAPH = Graph(
    tuple(EVENTS),
    (
        Task("mapped", ("ints",), "mapped", Map(3, 1)),
        Task("digest", ("mapped",), "digests", Digest()),
        Task("sum", ("ints",), "sums", Sum()),
        Task("average", ("ints",), "averages", Average()),
        Task("distinct", ("ints",), "new", Distinct()),
        Task("keyed", ("ints",), "keyed", KeyedSum(512)),
        Task("joined", ("left", "right"), "joined", Sum()),
    ),
)
WRONG = ("keyed", EPOCHS * 7 // 10, 617)
"""The stream, the epoch and the position of the wrong row."""

Streams = dict[str, list[list[int]]]


def streams() -> Streams:
    """Compute the content of every stream: each program applied to an order of its inputs."""
    random = Random(7)
    carried: Streams = {
        source: [[random.randrange(200_000) for _ in range(events)] for _ in range(EPOCHS)]
        for source, events in EVENTS.items()
    }
    for task in GRAPH.in_order:
        program, state = task.program, task.program.initial
        written: list[list[int]] = []
        for epoch in range(EPOCHS):
            shown: list[int] = []
            for each in _one_order([carried[stream][epoch] for stream in task.inputs], random):
                state, outputs = program(state, each)
                shown.extend(outputs)  # type: ignore[arg-type]
            written.append(shown)
        carried[task.output] = written
    return carried


def _one_order(inputs: list[list[int]], random: Random) -> list[int]:
    if len(inputs) == 1:
        return inputs[0]
    order = [which for which, events in enumerate(inputs) for _ in events]
    random.shuffle(order)
    heads = [iter(events) for events in inputs]
    return [next(heads[which]) for which in order]


def columns(epochs: list[list[int]]) -> tuple[Any, Any, Any]:
    """Return the epoch and value of each row of a stream, and whether it is a border."""
    sizes = np.array([len(events) + 1 for events in epochs])
    epoch = np.repeat(np.arange(1, len(epochs) + 1), sizes)
    value = np.concatenate([np.array([*events, 0], dtype=np.int64) for events in epochs])
    border = np.zeros(len(value), dtype=bool)
    border[np.cumsum(sizes) - 1] = True
    return epoch, value, border


def rows(shown: list[tuple[int, str, list[list[int]]]]) -> Any:
    """Return the rows of these streams, each in an observation."""
    import pyarrow as pa  # noqa: PLC0415

    tables = []
    for observation, stream, epochs in shown:
        epoch, value, border = columns(epochs)
        names = pa.DictionaryArray.from_arrays(np.zeros(len(epoch), dtype=np.int8), [stream]).cast(pa.string())
        tables.append(
            pa.table(
                {
                    "observation": np.full(len(epoch), observation, dtype=np.int64),
                    "stream": names,
                    "epoch": epoch,
                    "seq": np.arange(len(epoch), dtype=np.int64),
                    "value": pa.array(value, mask=border),
                }
            )
        )
    return pa.concat_tables(tables)


def write_files(folder: Path, carried: Streams, wrong: tuple[str, int, int] | None) -> tuple[tuple[Path, Path], int]:
    """Write both files with their datasets; return also the number of observed rows."""
    folder.mkdir()
    inputs = {source: tuple(map(tuple, carried[source])) for source in GRAPH.sources}
    case = Case(GRAPH, inputs, name="ten million rows")
    recorded = rows([(0, source, carried[source]) for source in GRAPH.sources])
    write_table(folder / INPUTS.name, recorded.drop_columns(["observation"]))
    earlier = [(0, stream, carried[stream][:EARLIER]) for stream in GRAPH.streams]
    last = dict(carried)
    if wrong is not None:
        stream, epoch, position = wrong
        changed = list(carried[stream][epoch - 1])
        changed[position] = (changed[position] + 1) % P
        last[stream] = [*carried[stream][: epoch - 1], changed, *carried[stream][epoch:]]
    observed = rows(earlier + [(1, stream, last[stream]) for stream in GRAPH.streams])
    write_table(folder / SEEN.name, observed)
    key = digest(case, {source: [content(events) for events in inputs[source]] for source in GRAPH.sources})
    seen = Observations(key, (Observation(dict.fromkeys(GRAPH.streams, ())),) * 2)
    files = write_json_files(folder, encode_case_beside(case, INPUTS), encode_observations_beside(seen, SEEN))
    return files, observed.num_rows


def expect_conforms(verdict: Verdict) -> None:
    """Check the verdict on the correct dataset."""
    assert isinstance(verdict, Conforms), verdict  # noqa: S101
    assert verdict.epochs == EPOCHS  # noqa: S101


def expect_wrong_row(verdict: Verdict) -> None:
    """Check that the verdict names the wrong row, and nothing else."""
    assert isinstance(verdict, Violates), verdict  # noqa: S101
    (finding,) = verdict.findings
    assert (finding.stream, finding.epoch, finding.position) == WRONG, finding  # noqa: S101
    assert finding.observation == 1  # noqa: S101


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as scratch:
        carried = streams()
        right, count = write_files(Path(scratch, "right"), carried, None)
        wrong, _ = write_files(Path(scratch, "wrong"), carried, WRONG)
        del carried
        print(f"check --on: {count:,} observed rows, {len(GRAPH.tasks)} tasks, {EPOCHS:,} epochs, 4 GB for the driver")
        print("  master    dataset        seconds    rows/s   processor   JVM, at most   our process, at most")
        checks: list[tuple[str, tuple[Path, Path], Callable[[Verdict], None]]] = [
            ("conforming", right, expect_conforms),
            ("one wrong row", wrong, expect_wrong_row),
        ]
        for master in ("local[1]", "local[2]"):
            for name, files, expect in checks:
                seconds, busy, jvm = _timed(master, files, expect)
                own = getrusage(RUSAGE_SELF).ru_maxrss / 2**20
                took = f"{seconds:7.1f} {count / seconds:9,.0f} {busy:9.1f} s"
                print(f"  {master:9} {name:14} {took} {jvm:10.2f} GiB {own:18.2f} GiB")


def _timed(master: str, files: tuple[Path, Path], expect: Callable[[Verdict], None]) -> tuple[float, float, float]:
    messages = []
    with cluster.session(master) as spark:
        started = perf_counter()
        verdict = read_request(*files).judge(
            spark, 60.0, lambda message: messages.append((perf_counter() - started, message))
        )
        seconds = perf_counter() - started
        busy, jvm = _busy(), _most_memory()
    expect(verdict)
    for when, message in messages:
        print(f"    {when:7.1f} s  {message}")
    return seconds, busy, jvm


def _busy() -> float:
    """Return the CPU seconds of Spark and of all processes that it has started."""
    spark = Process(_jvm())
    times = [process.cpu_times() for process in (spark, *spark.children(recursive=True))]
    return sum(each.user + each.system + each.children_user + each.children_system for each in times)


def _most_memory() -> float:
    status = Path(f"/proc/{_jvm()}/status").read_text(encoding="utf-8")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) / 2**20


def _jvm() -> int:
    from pyspark import SparkContext  # noqa: PLC0415

    gateway: Any = SparkContext._gateway  # noqa: SLF001 - the JVM's process
    number: int = gateway.proc.pid
    return number
