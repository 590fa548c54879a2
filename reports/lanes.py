"""
Where the acts of a run stand in a space-time diagram: lanes from top to bottom, columns from left to right.

A lane is a source, a task or a sink. An act stands in the first column that is behind what its task did before, and
behind whatever sent what it takes; a recovery and a look stand behind everything. So acts that nothing orders may share
a column, and what is drawn left of something can have caused it. What a source sends stands just before it is taken for
the first time, what a sink gets just after it was sent.
"""

from collections.abc import Sequence
from typing import TypeAlias

from attrs import define, field, frozen

from conformance.case import Case
from conformance.programs import Event
from conformance.reports.sanitize import label_event
from conformance.reports.svg import CHARACTER_WIDTH
from conformance.reports.timeline import Act

COLUMN, ROW, TOP = 17.0, 34.0, 30.0

Place: TypeAlias = tuple[int, int]
"""A column and a lane."""


@frozen
class Message:
    """A message: what it is, from where to where; to nowhere, if nobody took it."""

    stream: str
    seq: int
    value: Event
    epoch: int
    start: Place
    end: Place | None
    shift: int = 0
    """Of several that reach a sink at once, the how manyeth it is."""


@define
class Generation:
    """What happened between two recoveries: where it begins and ends, and where lanes passed which borders."""

    start: int
    end: int = 0
    base: int = 0
    """The epoch that it went on from."""
    cuts: dict[int, dict[int, int]] = field(factory=dict)
    """By epoch, the column in which each lane passed its border."""
    recovered: bool = False


@define
class Layout:
    """All of it, in columns and lanes."""

    case: Case
    lanes: list[str]
    placed: list[tuple[Act, Place]] = field(factory=list)
    messages: list[Message] = field(factory=list)
    generations: list[Generation] = field(factory=list)
    failures: list[Place] = field(factory=list)
    down: list[tuple[int, int, int]] = field(factory=list)
    """A lane, and from which column to which its task was gone."""
    columns: int = 0

    @property
    def sources(self) -> int:
        return len(self.case.graph.sources)

    @property
    def tasks(self) -> int:
        return len(self.case.graph.tasks)


class Placing:
    """Puts acts into their places, one after the other."""

    def __init__(self, case: Case) -> None:
        tasks = [task.name for task in case.graph.in_order]
        self.layout = Layout(case, [*case.graph.sources, *tasks, *case.graph.sinks])
        first = len(case.graph.sources)
        self._lane = {name: first + number for number, name in enumerate(tasks)}
        self._source = {name: number for number, name in enumerate(case.graph.sources)}
        self._sink = {name: first + len(tasks) + number for number, name in enumerate(case.graph.sinks)}
        self._output = {task.name: task.output for task in case.graph.tasks}
        self._inputs = {task.name: task.inputs for task in case.graph.tasks}
        self._readers = {
            stream: [task.name for task in case.graph.tasks if stream in task.inputs] for stream in case.graph.streams
        }
        self._last = dict.fromkeys(tasks, 0)
        self._sent: dict[tuple[str, int], tuple[Place, Event | None, int]] = {}
        self._taken: set[tuple[str, int]] = set()
        self._replayed: dict[tuple[str, int], list[tuple[Place, Event, int]]] = {}
        self._down: dict[int, int] = {}
        self.layout.generations.append(Generation(0))

    def put(self, acts: Sequence[Act]) -> Layout:
        """All of them."""
        group: list[Act] = []
        for act in [*acts, None]:
            if group and (act is None or act.do != "fail" or act.task in {each.task for each in group}):
                self._fail(group)
                group = []
            if act is None:
                break
            match act.do:
                case "fail":
                    group.append(act)
                case "recover":
                    self._recover(act)
                case "look":
                    self._stand(act, self._everything() + 1)
                case "event":
                    self._event(act)
                case "border":
                    self._border(act)
        self._close(self._everything() + 1)
        return self.layout

    def _everything(self) -> int:
        return max(self._last.values())

    def _stand(self, act: Act, column: int) -> None:
        """Something that nobody is before or behind of: a look, a recovery."""
        self._last = dict.fromkeys(self._last, column)
        self.layout.placed.append((act, (column, 0)))

    def _event(self, act: Act) -> None:
        key = (act.stream, act.seq)
        sent = self._sent.get(key)
        column = self._last[act.task] + 1
        if sent is not None and act.value in {sent[1], None}:
            column = max(column, sent[0][0] + 1)
        self._last[act.task] = column
        here = (column, self._lane[act.task])
        self.layout.placed.append((act, here))
        value = act.value if act.value is not None else sent[1] if sent is not None else None
        if act.stream in self._source:
            if value is not None:
                self._replayed.setdefault(key, []).append((here, value, act.epoch))
        elif sent is not None and value is not None and value == sent[1]:
            self._taken.add(key)
            self.layout.messages.append(Message(act.stream, act.seq, value, sent[2], sent[0], here))
        self._send(act, here)

    def _send(self, act: Act, here: Place) -> None:
        stream = self._output[act.task]
        events = [(seq, value) for seq, value in act.sends if value is not None]
        for shift, (seq, value) in enumerate(events):
            self._leave(stream, seq)
            self._sent[stream, seq] = (here, value, act.epoch)
            if stream in self._sink:
                there = (here[0] + 1, self._sink[stream])
                self.layout.messages.append(Message(stream, seq, value, act.epoch, here, there, shift))

    def _leave(self, stream: str, seq: int) -> None:
        """A number is used again, or all is over: if nobody took the message that had it, it led nowhere."""
        sent = self._sent.pop((stream, seq), None)
        if sent is not None and sent[1] is not None and stream not in self._sink and (stream, seq) not in self._taken:
            self.layout.messages.append(Message(stream, seq, sent[1], sent[2], sent[0], None))
        self._taken.discard((stream, seq))

    def _border(self, act: Act) -> None:
        generation = self.layout.generations[-1]
        cut = generation.cuts.setdefault(act.epoch, {})
        makers = [self._lane[name] for name in self._output if self._output[name] in self._inputs[act.task]]
        column = max([self._last[act.task] + 1, *(cut[lane] + 1 for lane in makers if lane in cut)])
        self._last[act.task] = column
        here = (column, self._lane[act.task])
        self.layout.placed.append((act, here))
        cut.setdefault(here[1], column)
        for stream in self._inputs[act.task]:
            if stream in self._source:
                lane = self._source[stream]
                cut[lane] = min(cut.get(lane, column - 1), column - 1)
        if self._output[act.task] in self._sink:
            cut.setdefault(self._sink[self._output[act.task]], column + 1)
        self._send(act, here)

    def _fail(self, group: Sequence[Act]) -> None:
        column = max(self._last[act.task] for act in group) + 1
        for act in group:
            self._last[act.task] = column
            here = (column, self._lane[act.task])
            self.layout.placed.append((act, here))
            self.layout.failures.append(here)
            self._down.setdefault(here[1], column)

    def _recover(self, act: Act) -> None:
        column = self._everything() + 1
        self._close(column)
        self.layout.generations[-1].recovered = True
        self._stand(act, column)
        base = act.epoch or max((e for g in self.layout.generations for e in self._complete(g)), default=0)
        self.layout.generations.append(Generation(column, base=base))

    def _complete(self, generation: Generation) -> list[int]:
        """The epochs of which every task passed the border."""
        tasks = set(self._lane.values())
        return [epoch for epoch, cut in generation.cuts.items() if tasks <= cut.keys()]

    def _close(self, column: int) -> None:
        """The end of a generation: what sources sent in it, how long who failed was gone, and what nobody took."""
        layout = self.layout
        layout.generations[-1].end = column
        layout.columns = column + 1
        for (stream, seq), reads in self._replayed.items():
            start = (min(place[0] for place, _, _ in reads) - 1, self._source[stream])
            layout.messages += [Message(stream, seq, value, epoch, start, place) for place, value, epoch in reads]
        self._replayed.clear()
        layout.down += [(lane, since, column) for lane, since in self._down.items()]
        self._down.clear()
        for stream, seq in list(self._sent):
            if (stream, seq) not in self._taken and stream not in self._sink and self._readers[stream]:
                where, value, epoch = self._sent[stream, seq]
                if value is not None and not any(m.start == where and m.seq == seq for m in layout.messages):
                    layout.messages.append(Message(stream, seq, value, epoch, where, None))


def widths(layout: Layout) -> list[float]:
    """How wide each column is: as wide as what is written in it."""
    needed: dict[tuple[int, int], float] = {}
    for message in layout.messages:
        for place in (message.start, message.end):
            if place is not None and not layout.sources <= place[1] < layout.sources + layout.tasks:
                width = len(label_event(message.value)) * CHARACTER_WIDTH + 5
                is_sink = place[1] >= layout.sources
                needed[place] = needed.get(place, 0) + width if is_sink else max(needed.get(place, 0), width)
    found = [COLUMN] * (layout.columns + 2)
    for (column, _), width in needed.items():
        found[column] = max(found[column], width)
    return found
