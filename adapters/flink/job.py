"""Cases as a Flink job: every task an operator of its own, every observed stream into a file sink of its own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from adapters.flink.desk import Desk, Waits
from adapters.flink.operators import ROW, Operator, Source
from adapters.flink.setup import Setup
from conformance.case import Case

BEGIN = "begin"
"""What the one file says that a case's sources begin on."""

RARELY_HOURS = 1


@frozen
class Placed:
    """A case in a job: its number there, the streams that are tapped, and where its tasks are held back."""

    desk: Desk
    case: Case
    streams: frozenset[str]
    waits: Mapping[str, Waits]

    @property
    def number(self) -> int:
        """Its number in the job."""
        return self.desk.case

    def sink(self, stream: str) -> Path:
        """Where a stream's file sink writes."""
        return Path(self.desk.folder, "sinks", str(self.number), stream)

    def named(self, operator: str) -> str:
        """What an operator is called in Flink."""
        return f"{self.number}/{operator}"


def build(environment: Any, cases: Sequence[Placed], setup: Setup) -> None:
    """Put the graphs of these cases into an environment. They share nothing, so each is a region of its own."""
    for placed in cases:
        _build(environment, placed, own=setup.is_own)


def _build(environment: Any, placed: Placed, *, own: bool) -> None:
    streams: dict[str, Any] = {}
    begin = _begin(environment, placed)
    for source in placed.case.graph.sources:
        played = _keyed([begin]).process(Source(placed.desk, source, placed.case.inputs[source], own=own), ROW)
        streams[source] = _called(played, placed.named(f"source:{source}"))
    for task in placed.case.graph.in_order:
        operator = Operator(placed.desk, task, placed.case.failures, placed.waits.get(task.name, Waits()))
        made = _keyed([streams[stream] for stream in task.inputs]).process(operator, ROW)
        streams[task.output] = _called(made, placed.named(task.name))
    for stream in sorted(placed.streams):
        _called(streams[stream].sink_to(_file_sink(placed.sink(stream))), placed.named(f"sink:{stream}"))


def _called(stream: Any, name: str) -> Any:
    return stream.name(name).uid(name)


def _begin(environment: Any, placed: Placed) -> Any:
    """
    What all sources of a case begin on: a folder with one file of one line, which Flink goes on watching.

    So the sources never end, and a case's operators hang together: if one fails, all are restored.
    """
    from pyflink.common import Duration, WatermarkStrategy  # noqa: PLC0415
    from pyflink.datastream.connectors.file_system import FileSource, StreamFormat  # noqa: PLC0415

    folder = Path(placed.desk.folder, "begin", str(placed.number))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / BEGIN).write_text(f"{BEGIN}\n", encoding="ascii")
    watched = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(folder))
    source = watched.monitor_continuously(Duration.of_hours(RARELY_HOURS)).build()
    lines = environment.from_source(source, WatermarkStrategy.no_watermarks(), placed.named(BEGIN))
    return _called(lines.map(_row, ROW), placed.named("begun"))


def _row(line: str) -> Any:
    from pyflink.common import Row  # noqa: PLC0415

    return Row(0, line)


def _keyed(streams: Sequence[Any]) -> Any:
    """
    Streams of rows as one, by the key that they carry.

    This is what `key_by` of PyFlink does once it has put the key into each row with an operator of its own, which would
    stand between a task and its inputs, and align them in its stead.
    """
    from pyflink.common.typeinfo import Types  # noqa: PLC0415
    from pyflink.datastream.data_stream import KeyedStream  # noqa: PLC0415
    from pyflink.java_gateway import get_gateway  # noqa: PLC0415

    first, *others = streams
    united = first.union(*others) if others else first
    key = get_gateway().jvm.KeyByKeySelector()
    keyed = united._j_data_stream.keyBy(key, Types.ROW([Types.INT()]).get_java_type_info())  # noqa: SLF001
    return KeyedStream(keyed, Types.STRING(), united)


def _file_sink(folder: Path) -> Any:
    """Flink's own exactly-once sink; what is between two checkpoints is in files of its own."""
    from pyflink.common.serialization import Encoder  # noqa: PLC0415
    from pyflink.datastream.connectors.file_system import (  # noqa: PLC0415
        BucketAssigner,
        FileSink,
        RollingPolicy,
    )

    return (
        FileSink.for_row_format(str(folder), Encoder.simple_string_encoder())
        .with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
        .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        .build()
    )
