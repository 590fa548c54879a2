"""
Layout of a space-time diagram: a timeline placed in lanes (top to bottom) and columns (left to right).

A lane is a source, a task or a sink. An entry stands in the first column after the previous entry of its task and after
the entry that sent the event it reads. A recovery and an observation stand after everything before them. So concurrent
entries may share a column, and everything left of an entry may have caused it. A source sends an event one column
before it is first read; a sink receives an event one column after it was sent.
"""

from collections.abc import Sequence
from typing import TypeAlias

from attrs import define, field, frozen

from conformance.case import Case
from conformance.programs import Event
from conformance.reports.sanitize import label_event
from conformance.reports.svg import CHARACTER_WIDTH
from conformance.reports.timeline import Timeline, TimelineEntry

COLUMN_WIDTH, LANE_HEIGHT, HEADER_HEIGHT = 17.0, 34.0, 30.0

Position: TypeAlias = tuple[int, int]
"""A column and a lane."""


@frozen
class MessageArrow:
    """A message from one position to another. An undelivered message has no end."""

    stream: str
    seq: int
    value: Event
    epoch: int
    start: Position
    end: Position | None
    index: int = 0
    """Its index among the messages that one step sends to a sink; they arrive in the same column."""


@define
class AttemptSpan:
    """The columns of one attempt, which lasts from one recovery to the next, and the borders passed in it."""

    start: int
    end: int = 0
    cuts: dict[int, dict[int, int]] = field(factory=dict)
    """By epoch, the column in which each lane passed its border."""
    recovered: bool = False
    """Whether a recovery ended the attempt."""


@define
class DiagramLayout:
    """The positions of everything that a diagram draws."""

    case: Case
    lanes: list[str]
    entries: list[tuple[TimelineEntry, Position]] = field(factory=list)
    messages: list[MessageArrow] = field(factory=list)
    attempts: list[AttemptSpan] = field(factory=list)
    failures: list[Position] = field(factory=list)
    outages: list[tuple[int, int, int]] = field(factory=list)
    """A lane, and the columns between which its task was down."""
    columns: int = 0

    @property
    def sources(self) -> int:
        return len(self.case.graph.sources)

    @property
    def tasks(self) -> int:
        return len(self.case.graph.tasks)

    def is_task(self, lane: int) -> bool:
        return self.sources <= lane < self.sources + self.tasks

    def is_complete(self, attempt: AttemptSpan, epoch: int) -> bool:
        """Whether every task passed the border of an epoch in this attempt."""
        return all(lane in attempt.cuts.get(epoch, {}) for lane in range(self.sources, self.sources + self.tasks))


@frozen
class _SentMessage:
    """A message that a task sent, and the position it was sent from."""

    position: Position
    value: Event
    epoch: int


def lay_out(case: Case, timeline: Timeline) -> DiagramLayout:
    """Place the entries of a timeline."""
    return _LayoutBuilder(case).build(timeline)


class _LayoutBuilder:
    """The state of a layout while entries are placed, one after the other."""

    def __init__(self, case: Case) -> None:
        tasks = [task.name for task in case.graph.in_order]
        self.layout = DiagramLayout(case, [*case.graph.sources, *tasks, *case.graph.sinks])
        first = len(case.graph.sources)
        self._task_lanes = {name: first + number for number, name in enumerate(tasks)}
        self._source_lanes = {name: number for number, name in enumerate(case.graph.sources)}
        self._sink_lanes = {name: first + len(tasks) + number for number, name in enumerate(case.graph.sinks)}
        self._output = {task.name: task.output for task in case.graph.tasks}
        self._inputs = {task.name: task.inputs for task in case.graph.tasks}
        self._last_columns = dict.fromkeys(tasks, 0)
        self._sent: dict[tuple[str, int], _SentMessage] = {}
        self._received: set[tuple[str, int]] = set()
        self._source_reads: dict[tuple[str, int], list[tuple[Position, Event, int]]] = {}
        self._down_since: dict[int, int] = {}
        self.layout.attempts.append(AttemptSpan(0))

    def build(self, timeline: Timeline) -> DiagramLayout:
        failures: list[TimelineEntry] = []
        for entry in timeline:
            if failures and (entry.kind != "fail" or entry.task in {failure.task for failure in failures}):
                self._place_failures(failures)
                failures = []
            match entry.kind:
                case "fail":
                    failures.append(entry)
                case "recover":
                    self._place_recovery(entry)
                case "look":
                    self._place_across(entry, self._last_column() + 1)
                case "event":
                    self._place_event(entry)
                case "border":
                    self._place_border(entry)
        if failures:
            self._place_failures(failures)
        self._end_attempt(self._last_column() + 1)
        return self.layout

    def _last_column(self) -> int:
        return max(self._last_columns.values())

    def _place_across(self, entry: TimelineEntry, column: int) -> None:
        """Place an entry that all tasks are before or after: an observation, a recovery."""
        self._last_columns = dict.fromkeys(self._last_columns, column)
        self.layout.entries.append((entry, (column, 0)))

    def _place_in_lane(self, entry: TimelineEntry, column: int) -> Position:
        position = (column, self._task_lanes[entry.task])
        self._last_columns[entry.task] = column
        self.layout.entries.append((entry, position))
        return position

    def _place_event(self, entry: TimelineEntry) -> None:
        key = (entry.stream, entry.seq)
        sent = self._sent.get(key)
        column = self._last_columns[entry.task] + 1
        if sent is not None and entry.value in {sent.value, None}:
            column = max(column, sent.position[0] + 1)
        position = self._place_in_lane(entry, column)
        value = entry.value if entry.value is not None else sent.value if sent is not None else None
        if entry.stream in self._source_lanes:
            if value is not None:
                self._source_reads.setdefault(key, []).append((position, value, entry.epoch))
        elif sent is not None and value == sent.value:
            self._received.add(key)
            self.layout.messages.append(
                MessageArrow(entry.stream, entry.seq, sent.value, sent.epoch, sent.position, position)
            )
        self._send(entry, position)

    def _send(self, entry: TimelineEntry, position: Position) -> None:
        stream = self._output[entry.task]
        events = [(seq, value) for seq, value in entry.sends if value is not None]
        for index, (seq, value) in enumerate(events):
            self._replace_message(stream, seq)
            self._sent[stream, seq] = _SentMessage(position, value, entry.epoch)
            if stream in self._sink_lanes:
                end = (position[0] + 1, self._sink_lanes[stream])
                self.layout.messages.append(MessageArrow(stream, seq, value, entry.epoch, position, end, index))

    def _replace_message(self, stream: str, seq: int) -> None:
        """Free a sequence number that is sent again. The message that had it is undelivered, if no task read it."""
        sent = self._sent.pop((stream, seq), None)
        if sent is not None and stream not in self._sink_lanes and (stream, seq) not in self._received:
            self.layout.messages.append(MessageArrow(stream, seq, sent.value, sent.epoch, sent.position, None))
        self._received.discard((stream, seq))

    def _place_border(self, entry: TimelineEntry) -> None:
        cut = self.layout.attempts[-1].cuts.setdefault(entry.epoch, {})
        inputs, output = self._inputs[entry.task], self._output[entry.task]
        upstream = [self._task_lanes[name] for name in self._output if self._output[name] in inputs]
        column = max([self._last_columns[entry.task] + 1, *(cut[lane] + 1 for lane in upstream if lane in cut)])
        position = self._place_in_lane(entry, column)
        cut.setdefault(position[1], column)
        for stream in inputs:
            if stream in self._source_lanes:
                lane = self._source_lanes[stream]
                cut[lane] = min(cut.get(lane, column - 1), column - 1)
        if output in self._sink_lanes:
            cut.setdefault(self._sink_lanes[output], column + 1)
        self._send(entry, position)

    def _place_failures(self, failures: Sequence[TimelineEntry]) -> None:
        """Place failures that follow each other immediately in one column."""
        column = max(self._last_columns[entry.task] for entry in failures) + 1
        for entry in failures:
            position = self._place_in_lane(entry, column)
            self.layout.failures.append(position)
            self._down_since.setdefault(position[1], column)

    def _place_recovery(self, entry: TimelineEntry) -> None:
        column = self._last_column() + 1
        self._end_attempt(column)
        self.layout.attempts[-1].recovered = True
        self._place_across(entry, column)
        self.layout.attempts.append(AttemptSpan(column))

    def _end_attempt(self, column: int) -> None:
        """Place the messages of sources, the ends of outages and the undelivered messages of an attempt."""
        layout = self.layout
        layout.attempts[-1].end = column
        layout.columns = column + 1
        for (stream, seq), reads in self._source_reads.items():
            start = (min(position[0] for position, _, _ in reads) - 1, self._source_lanes[stream])
            layout.messages += [
                MessageArrow(stream, seq, value, epoch, start, position) for position, value, epoch in reads
            ]
        self._source_reads.clear()
        layout.outages += [(lane, since, column) for lane, since in self._down_since.items()]
        self._down_since.clear()
        for (stream, seq), sent in self._sent.items():
            if (stream, seq) not in self._received and stream not in self._sink_lanes:
                drawn = any(arrow.start == sent.position and arrow.seq == seq for arrow in layout.messages)
                if not drawn:
                    layout.messages.append(MessageArrow(stream, seq, sent.value, sent.epoch, sent.position, None))


def measure_columns(layout: DiagramLayout) -> list[float]:
    """Measure the width of each column, so that the labels of sources and sinks fit."""
    label_widths: dict[Position, float] = {}
    for message in layout.messages:
        for position in (message.start, message.end):
            if position is not None and not layout.is_task(position[1]):
                width = measure_label(message)
                is_sink = position[1] >= layout.sources
                before = label_widths.get(position, 0)
                label_widths[position] = before + width if is_sink else max(before, width)
    widths = [COLUMN_WIDTH] * (layout.columns + 2)
    for (column, _), width in label_widths.items():
        widths[column] = max(widths[column], width)
    return widths


def measure_label(message: MessageArrow) -> float:
    """Measure the width of a message's label, with a margin."""
    return len(label_event(message.value)) * CHARACTER_WIDTH + 5
