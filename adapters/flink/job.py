"""Flink jobs out of deployed cases: every task an operator of its own, every observed stream a file sink of its own."""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import count, takewhile
from pathlib import Path
from typing import Any, TypeAlias

from conformance.adapters.flink.deployment import CaseDeployment
from conformance.adapters.flink.messages import source_name
from conformance.adapters.flink.operators import ROW, BranchRouter, CheckpointBlocker, SourceOperator, TaskOperator
from conformance.adapters.flink.setup import KEY_GROUPS, FlinkSetup
from conformance.case import Kill

START = "start"
"""Name and content of the one file that a case's sources start on."""

BLOCKER, SINK = "blocker", "sink"
"""Name prefixes of operators that are neither a source nor a task."""

WATCH_HOURS = 1
"""Hours after which Flink looks for new files in the folder of `START`; there never are any."""

FEWER, MORE = 2, 3
"""Subtasks of a keyed sum: `FEWER` in the first job, `MORE` after a restart, `FEWER` after another one, and so on."""

Naming: TypeAlias = Callable[[Any, str], Any]
"""Give a stream's operator a name and, where there are several, a slot sharing group."""


def build_job(
    environment: Any, deployments: Sequence[CaseDeployment], setup: FlinkSetup, restarts: int, slot_groups: int = 1
) -> None:
    """
    Add the operators of these cases to the environment of a job that was restarted `restarts` times.

    Cases share no operator, so each case is a failover region. Operators are dealt out to slot sharing groups, each of
    which takes a slot for itself. Keyed sums with several subtasks change their number with every restart.
    """
    name_operator = _dealing(slot_groups) if slot_groups > 1 else _name
    subtasks = (FEWER, MORE)[restarts % 2]
    for deployment in deployments:
        _add_case(environment, deployment, name_operator, own=setup.has_own_epochs, subtasks=subtasks)
        if any(isinstance(failure, Kill) for failure in deployment.case.failures):
            _add_blockers(environment, deployment, slot_groups)


def _name(stream: Any, name: str) -> Any:
    return stream.name(name).uid(name)


def _dealing(slot_groups: int) -> Naming:
    numbers = count()
    return lambda stream, name: _name(stream, name).slot_sharing_group(str(next(numbers) % slot_groups))


def _add_blockers(environment: Any, deployment: CaseDeployment, slot_groups: int) -> None:
    """Add a checkpoint blocker to every slot."""
    for number in range(slot_groups):

        def name_operator(stream: Any, name: str, slot: str = str(number)) -> Any:
            return _name(stream, name).slot_sharing_group(slot)

        start = _add_start(environment, deployment, f"{START}:{number}", name_operator)
        name = f"{BLOCKER}:{number}"
        blocker = _keyed([start]).process(CheckpointBlocker(deployment.channel, name), ROW)
        name_operator(blocker, deployment.flink_name(name))


def _add_case(environment: Any, deployment: CaseDeployment, name_operator: Naming, *, own: bool, subtasks: int) -> None:
    streams: dict[str, Any] = {}
    start = _add_start(environment, deployment, START, name_operator)
    for source in deployment.case.graph.sources:
        played = _keyed([start]).process(
            SourceOperator(deployment.channel, source, deployment.case.inputs[source], own=own), ROW
        )
        streams[source] = name_operator(played, deployment.flink_name(source_name(source)))
    for operator in deployment.operators:
        tasks = {number: operator.task_spec(number, deployment.gates) for number in range(len(operator.tasks))}
        # The streams of several branches come from one operator, and are read as one.
        inputs = dict.fromkeys(map(deployment.tap, operator.inputs))
        if len(tasks) == 1:
            made = _keyed([streams[stream] for stream in inputs]).process(
                TaskOperator(deployment.channel, tasks, deployment.case.failures), ROW
            )
        else:
            keys = _branch_keys(len(tasks))
            # A router is in the slot of its producer, so that the keyed sum itself aligns its inputs.
            routed = [
                _name(
                    streams[stream].process(BranchRouter(keys), ROW), deployment.flink_name(f"{operator.name}:{stream}")
                )
                for stream in inputs
            ]
            by_key = {keys[number]: task for number, task in tasks.items()}
            made = _keyed(routed).process(TaskOperator(deployment.channel, by_key, deployment.case.failures), ROW)
            made.set_parallelism(subtasks)
        made = name_operator(made, deployment.flink_name(operator.name))
        streams |= dict.fromkeys(operator.outputs, made)
    for stream in sorted({deployment.tap(stream) for stream in deployment.streams}):
        name_operator(
            streams[stream].sink_to(_file_sink(deployment.sink(stream))), deployment.flink_name(f"{SINK}:{stream}")
        )


def _add_start(environment: Any, deployment: CaseDeployment, name: str, name_operator: Naming) -> Any:
    """
    Add what all sources of a case start on: a folder with one file of one line, which Flink goes on watching.

    So the sources never end, and the operators of a case are connected: if one fails, all are restored.
    """
    from pyflink.common import Duration, WatermarkStrategy  # noqa: PLC0415
    from pyflink.datastream.connectors.file_system import FileSource, StreamFormat  # noqa: PLC0415

    folder = Path(deployment.channel.folder, START, str(deployment.number))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / START).write_text(f"{START}\n", encoding="ascii")
    watched = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(folder))
    source = watched.monitor_continuously(Duration.of_hours(WATCH_HOURS)).build()
    lines = environment.from_source(source, WatermarkStrategy.no_watermarks(), deployment.flink_name(name))
    lines = name_operator(lines, deployment.flink_name(name))
    return name_operator(lines.map(_start_row, ROW), deployment.flink_name(f"{name}-row"))


def _start_row(line: str) -> Any:
    from pyflink.common import Row  # noqa: PLC0415

    return Row(0, line)


@cache
def _branch_keys(number: int) -> list[int]:
    """
    Return a key for each branch, so that branches are spread evenly over any number of subtasks.

    The subtask of a key follows from its hash, so keys are tried until they are where they should be.
    """
    from pyflink.java_gateway import get_gateway  # noqa: PLC0415

    jvm = get_gateway().jvm

    def key_group(key: int) -> int:
        row = jvm.org.apache.flink.types.Row(1)
        row.setField(0, key)
        return int(jvm.org.apache.flink.runtime.state.KeyGroupRangeAssignment.assignToKeyGroup(row, KEY_GROUPS))

    wanted = [KEY_GROUPS * (2 * branch + 1) // (2 * number) for branch in range(number)]
    found: dict[int, int] = {}
    for key in takewhile(lambda _: len(found) < number, count()):
        if (group := key_group(key)) in wanted:
            found.setdefault(group, key)
    return [found[group] for group in wanted]


def _keyed(streams: Sequence[Any]) -> Any:
    """
    Union streams of rows, keyed by the key that each row carries.

    PyFlink's `key_by` does the same after it has put the key into each row, with an operator of its own. That operator
    would stand between a task and its inputs, and align them instead of the task.
    """
    from pyflink.common.typeinfo import Types  # noqa: PLC0415
    from pyflink.datastream.data_stream import KeyedStream  # noqa: PLC0415

    first, *others = streams
    union = first.union(*others) if others else first
    return KeyedStream(union._j_data_stream.keyBy(*_key_selector()), Types.STRING(), union)  # noqa: SLF001


@cache
def _key_selector() -> tuple[Any, Any]:
    """Return the selector of a row's key, and the key's type; they are the same for all streams, so made once."""
    from pyflink.common.typeinfo import Types  # noqa: PLC0415
    from pyflink.java_gateway import get_gateway  # noqa: PLC0415

    return get_gateway().jvm.KeyByKeySelector(), Types.ROW([Types.INT()]).get_java_type_info()


def _file_sink(folder: Path) -> Any:
    """Return Flink's own exactly-once file sink, which begins new files with every checkpoint."""
    from pyflink.datastream.connectors.file_system import FileSink  # noqa: PLC0415

    encoder, rolling, bucket = _file_format()
    sink = FileSink.for_row_format(str(folder), encoder)
    return sink.with_rolling_policy(rolling).with_bucket_assigner(bucket).build()


@cache
def _file_format() -> tuple[Any, Any, Any]:
    """Return a sink's encoder, rolling policy and bucket assigner; they are the same for all sinks, so made once."""
    from pyflink.common.serialization import Encoder  # noqa: PLC0415
    from pyflink.datastream.connectors.file_system import BucketAssigner, RollingPolicy  # noqa: PLC0415

    return (
        Encoder.simple_string_encoder(),
        RollingPolicy.on_checkpoint_rolling_policy(),
        BucketAssigner.base_path_bucket_assigner(),
    )
