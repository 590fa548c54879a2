"""Cases as a Flink job: every task an operator of its own, every observed stream into a file sink of its own."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from graphlib import TopologicalSorter
from itertools import count, takewhile
from pathlib import Path
from typing import Any

from attrs import frozen

from conformance import branches
from conformance.adapters.flink.control import Desk, Waits
from conformance.adapters.flink.operators import ROW, Brake, Operator, Reader, Source, Spread
from conformance.adapters.flink.setup import KEY_GROUPS, Setup
from conformance.case import Case, Kill, Task
from conformance.engine import RunRequest

BEGIN = "begin"
"""What the one file says that a case's sources begin on."""

BRAKE, SINK = "brake", "sink"
"""What operators are called that are neither a source nor a task."""

RARELY_HOURS = 1

FEWER, MORE = 2, 3
"""Subtasks of a keyed sum, at first and after a restart; then again so many as at first."""


@frozen
class Tasks:
    """What becomes one operator: a task, or all branches of a keyed sum."""

    name: str
    inputs: tuple[str, ...]
    first: tuple[Task, ...]
    last: tuple[Task, ...]

    @property
    def outputs(self) -> tuple[str, ...]:
        """The streams that it makes and that others read."""
        return tuple(task.output for task in self.last)

    def reader(self, number: int, waits: Mapping[str, Waits]) -> Reader:
        """The task itself, or one branch: its filter and its sum as one."""
        last = self.last[number]
        programs = tuple(each.program for each in (*self.first[number : number + 1], last))
        return Reader(last.name, self.inputs, last.output, programs, waits.get(last.name, Waits()))


@frozen
class Placed:
    """A case in a job: its number there, the streams that are tapped, and where its tasks are held back."""

    desk: Desk
    case: Case
    streams: frozenset[str]
    waits: Mapping[str, Waits]
    operators: tuple[Tasks, ...]

    @property
    def number(self) -> int:
        """Its number in the job."""
        return self.desk.case

    @property
    def tasks(self) -> frozenset[str]:
        """The tasks that can be told apart: of a branch, its sum."""
        return frozenset(task.name for tasks in self.operators for task in tasks.last)

    def with_company(self, names: Iterable[str]) -> set[str]:
        """These tasks and whoever has to stand still with them: branches that may be in one subtask."""
        wanted = set(names)
        together = [{task.name for task in tasks.last} for tasks in self.operators]
        return wanted.union(*(each for each in together if each & wanted))

    def tap(self, stream: str) -> str:
        """The stream whose sink has this stream too: streams that one operator makes share the first one's."""
        return next((tasks.outputs[0] for tasks in self.operators if stream in tasks.outputs), stream)

    def sink(self, stream: str) -> Path:
        """Where a stream's file sink writes."""
        return Path(self.desk.folder, "sinks", str(self.number), stream)

    def named(self, operator: str) -> str:
        """What an operator is called in Flink."""
        return f"{self.number}/{operator}"


def placed(desk: Desk, job: RunRequest, waits: Mapping[str, Waits], *, parallel: bool) -> Placed:
    """A case as the operators that it becomes. Streams within an operator cannot be tapped."""
    graph = job.case.graph
    together = list(branches.find(graph)) if parallel else []
    within = {task.output for each in together for task in each.filters}
    first_of = {each.sums[0].name: each for each in together}
    joined = {name for each in together for name in each.names}
    operators = []
    for task in graph.in_order:
        if task.name in first_of:
            each = first_of[task.name]
            operators.append(Tasks(task.name, each.inputs, each.filters, each.sums))
        elif task.name not in joined:
            operators.append(Tasks(task.name, task.inputs, (), (task,)))
    return Placed(desk, job.case, job.streams - within, waits, _in_order(operators))


def _in_order(operators: Sequence[Tasks]) -> tuple[Tasks, ...]:
    """Producers before consumers."""
    makers = {stream: number for number, tasks in enumerate(operators) for stream in tasks.outputs}
    needs = {
        number: {makers[stream] for stream in tasks.inputs if stream in makers}
        for number, tasks in enumerate(operators)
    }
    return tuple(operators[number] for number in TopologicalSorter(needs).static_order())


def build(environment: Any, cases: Sequence[Placed], setup: Setup, built: int, *, groups: int = 1) -> None:
    """
    Put the graphs of these cases into an environment. They share nothing, so each is a region of its own.

    Operators are dealt out to so many groups, each of which takes a slot for itself. Where keyed sums have several
    subtasks, they have another number of them each time that a job is built.
    """
    called = _dealt(groups) if groups > 1 else _called
    subtasks = (FEWER, MORE)[built % 2]
    for placed in cases:
        _build(environment, placed, called, own=setup.is_own, subtasks=subtasks)
        if any(isinstance(failure, Kill) for failure in placed.case.failures):
            _add_brakes(environment, placed, groups)


def _dealt(groups: int) -> Callable[[Any, str], Any]:
    numbers = count()
    return lambda stream, name: _called(stream, name).slot_sharing_group(str(next(numbers) % groups))


def _add_brakes(environment: Any, placed: Placed, groups: int) -> None:
    """In every slot an operator by which a checkpoint can be kept from being complete."""
    for number in range(groups):

        def called(stream: Any, name: str, slot: str = str(number)) -> Any:
            return _called(stream, name).slot_sharing_group(slot)

        begin = _begin(environment, placed, f"{BEGIN}:{number}", called)
        name = f"{BRAKE}:{number}"
        called(_keyed([begin]).process(Brake(placed.desk, name), ROW), placed.named(name))


def _build(environment: Any, placed: Placed, called: Callable[[Any, str], Any], *, own: bool, subtasks: int) -> None:
    streams: dict[str, Any] = {}
    begin = _begin(environment, placed, BEGIN, called)
    for source in placed.case.graph.sources:
        played = _keyed([begin]).process(Source(placed.desk, source, placed.case.inputs[source], own=own), ROW)
        streams[source] = called(played, placed.named(f"source:{source}"))
    for tasks in placed.operators:
        readers = {key: tasks.reader(key, placed.waits) for key in range(len(tasks.last))}
        # Branches are made by one operator, all of which is read at once.
        made_apart = dict.fromkeys(map(placed.tap, tasks.inputs))
        if len(readers) == 1:
            made = _keyed([streams[stream] for stream in made_apart]).process(
                Operator(placed.desk, readers, placed.case.failures), ROW
            )
        else:
            keys = _keys(len(readers))
            # Where their producer is, so that it is the keyed sum itself that aligns its inputs.
            spread = [
                _called(streams[stream].process(Spread(keys), ROW), placed.named(f"{tasks.name}:{stream}"))
                for stream in made_apart
            ]
            by_key = {keys[number]: reader for number, reader in readers.items()}
            made = _keyed(spread).process(Operator(placed.desk, by_key, placed.case.failures), ROW)
            made.set_parallelism(subtasks)
        made = called(made, placed.named(tasks.name))
        streams |= dict.fromkeys(tasks.outputs, made)
    for stream in sorted({placed.tap(stream) for stream in placed.streams}):
        called(streams[stream].sink_to(_file_sink(placed.sink(stream))), placed.named(f"{SINK}:{stream}"))


def _called(stream: Any, name: str) -> Any:
    return stream.name(name).uid(name)


def _begin(environment: Any, placed: Placed, name: str, called: Callable[[Any, str], Any]) -> Any:
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
    lines = environment.from_source(source, WatermarkStrategy.no_watermarks(), placed.named(name))
    lines = called(lines, placed.named(name))
    return called(lines.map(_row, ROW), placed.named(f"{name}-said"))


def _row(line: str) -> Any:
    from pyflink.common import Row  # noqa: PLC0415

    return Row(0, line)


@cache
def _keys(number: int) -> list[int]:
    """
    A key for each branch, so that they are spread evenly over however many subtasks there are.

    Which subtask a key belongs to follows from its hash, so keys are tried until they are where they should be.
    """
    from pyflink.java_gateway import get_gateway  # noqa: PLC0415

    jvm = get_gateway().jvm

    def group(key: int) -> int:
        row = jvm.org.apache.flink.types.Row(1)
        row.setField(0, key)
        return int(jvm.org.apache.flink.runtime.state.KeyGroupRangeAssignment.assignToKeyGroup(row, KEY_GROUPS))

    wanted = [KEY_GROUPS * (2 * branch + 1) // (2 * number) for branch in range(number)]
    found: dict[int, int] = {}
    for key in takewhile(lambda _: len(found) < number, count()):
        if (place := group(key)) in wanted:
            found.setdefault(place, key)
    return [found[place] for place in wanted]


def _keyed(streams: Sequence[Any]) -> Any:
    """
    Streams of rows as one, by the key that they carry.

    This is what `key_by` of PyFlink does once it has put the key into each row with an operator of its own, which would
    stand between a task and its inputs, and align them in its stead.
    """
    from pyflink.common.typeinfo import Types  # noqa: PLC0415
    from pyflink.datastream.data_stream import KeyedStream  # noqa: PLC0415

    first, *others = streams
    united = first.union(*others) if others else first
    return KeyedStream(united._j_data_stream.keyBy(*_key()), Types.STRING(), united)  # noqa: SLF001


@cache
def _key() -> tuple[Any, Any]:
    """How a row's key is found, and its type: the same for all, so they are made once."""
    from pyflink.common.typeinfo import Types  # noqa: PLC0415
    from pyflink.java_gateway import get_gateway  # noqa: PLC0415

    return get_gateway().jvm.KeyByKeySelector(), Types.ROW([Types.INT()]).get_java_type_info()


def _file_sink(folder: Path) -> Any:
    """Flink's own exactly-once sink; what is between two checkpoints is in files of its own."""
    from pyflink.datastream.connectors.file_system import FileSink  # noqa: PLC0415

    encoder, rolling, bucket = _file_format()
    sink = FileSink.for_row_format(str(folder), encoder)
    return sink.with_rolling_policy(rolling).with_bucket_assigner(bucket).build()


@cache
def _file_format() -> tuple[Any, Any, Any]:
    """How a sink writes its files, when it begins new ones, and where: the same for all, so they are made once."""
    from pyflink.common.serialization import Encoder  # noqa: PLC0415
    from pyflink.datastream.connectors.file_system import BucketAssigner, RollingPolicy  # noqa: PLC0415

    return (
        Encoder.simple_string_encoder(),
        RollingPolicy.on_checkpoint_rolling_policy(),
        BucketAssigner.base_path_bucket_assigner(),
    )
