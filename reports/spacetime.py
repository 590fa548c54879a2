"""
Space-time diagrams, in the manner of the paper's figures.

A line for each task, and for each source above and each sink below them; messages between the lines; a snapshot where a
task passes a border, and through the snapshots of one epoch the cut that commits it, with what belongs to the epoch
shaded; what was done in vain is hatched; crosses where tasks fail, and a line through all of them where they recover.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from attrs import frozen
from markupsafe import Markup

from conformance.case import Case
from conformance.reports.lanes import ROW, TOP, Generation, Layout, Message, Place, Placing, widths
from conformance.reports.sanitize import format_event, label_event
from conformance.reports.svg import CHARACTER_WIDTH, drawing, group, path, polyline, px, text, text_row
from conformance.reports.timeline import Act

SHADES = 4
"""Tints that epochs take in turn."""

NAME = 13
"""Characters of a lane's name."""


@frozen
class Canvas:
    """Columns and lanes as points."""

    layout: Layout
    lefts: Sequence[float]
    margin: float
    arriving: Mapping[Place, Sequence[float]]
    """How wide what reaches a sink at once is, message by message."""

    def x(self, column: float) -> float:
        """The middle of a column."""
        whole = min(int(column), len(self.lefts) - 2)
        return self.margin + (self.lefts[whole] + self.lefts[whole + 1]) / 2

    def left(self, column: int) -> float:
        """Its left edge."""
        return self.margin + self.lefts[min(column, len(self.lefts) - 1)]

    def y(self, lane: int) -> float:
        return TOP + ROW * lane + ROW / 2

    @property
    def top(self) -> float:
        return TOP

    @property
    def bottom(self) -> float:
        return TOP + ROW * len(self.layout.lanes)

    @property
    def right(self) -> float:
        return self.x(self.layout.columns) + 4


def spacetime(case: Case, acts: Sequence[Act], name: str, *, inferred: bool = False, brief: bool = False) -> Markup:
    """The diagram of these acts. A brief one draws a stream's messages in one go, where there are many diagrams."""
    layout = Placing(case).put(acts)
    margin = min(max(map(len, layout.lanes)), NAME) * CHARACTER_WIDTH + 14
    arriving: dict[Place, list[float]] = {}
    for message in layout.messages:
        if message.end is not None:
            arriving.setdefault(message.end, []).append(len(label_event(message.value)) * CHARACTER_WIDTH + 5)
    canvas = Canvas(layout, [0.0, *accumulate(widths(layout))], margin, arriving)
    parts = [
        group("sh", _shades(canvas)),
        group("ln", _lines(canvas)),
        group("ct", () if brief else _cuts(canvas)),
        group("ms", _streams(canvas) if brief else _messages(canvas)),
        group("un", _undelivered(canvas)),
        _dots(canvas, brief=brief),
        group(
            "sn", _joined(_snapshots(canvas)) if brief else (path(d, title=title) for d, title in _snapshots(canvas))
        ),
        group("fl", _failures(canvas)),
        group("rc", _recoveries(canvas)),
        group("lk", _joined(_looks(canvas)) if brief else (path(d, title=title) for d, title in _looks(canvas))),
        group("nm", _names(canvas)),
        group("vl", _values(canvas)),
    ]
    kind = "st in" if inferred else "st"
    return drawing(canvas.right + 8, canvas.bottom + 6, kind, name, parts)


def _boundary(canvas: Canvas, generation: Generation, epoch: int, otherwise: float) -> list[tuple[float, float]]:
    """Where each lane passes the border of an epoch, from top to bottom."""
    cut = generation.cuts.get(epoch, {})
    points = []
    for lane in range(len(canvas.layout.lanes)):
        x = canvas.x(cut[lane]) if lane in cut else otherwise
        points.append((x, canvas.y(lane)))
    return [(points[0][0], canvas.top), *points, (points[-1][0], canvas.bottom)]


def _is_whole(canvas: Canvas, generation: Generation, epoch: int) -> bool:
    first = canvas.layout.sources
    return all(lane in generation.cuts.get(epoch, {}) for lane in range(first, first + canvas.layout.tasks))


def _regions(canvas: Canvas) -> Iterator[tuple[int, list[tuple[float, float]], list[tuple[float, float]], bool]]:
    """The epochs as areas: number, left boundary, right boundary, and whether it was done in vain."""
    for generation in canvas.layout.generations:
        start = canvas.x(generation.start) if generation.start else canvas.margin
        before = [(start, canvas.top), (start, canvas.bottom)]
        for epoch in sorted(generation.cuts):
            if _is_whole(canvas, generation, epoch):
                after = _boundary(canvas, generation, epoch, canvas.x(generation.end))
                yield epoch, before, after, False
                before = after
        if generation.recovered:
            end = canvas.x(generation.end)
            yield 0, before, [(end, canvas.top), (end, canvas.bottom)], True


def _shades(canvas: Canvas) -> Iterator[Markup]:
    for epoch, before, after, in_vain in _regions(canvas):
        d = f"{polyline([*before, *reversed(after)])}z"
        if in_vain:
            yield path(d, "x")
        else:
            yield path(d, f"e{epoch % SHADES}")
            room = after[0][0] - before[0][0] > len("epoch 1") * CHARACTER_WIDTH
            yield text((before[0][0] + after[0][0]) / 2, TOP - 3, f"epoch {epoch}" if room else str(epoch), "c")


def _cuts(canvas: Canvas) -> Iterator[Markup]:
    d = "".join(polyline(after) for _, _, after, in_vain in _regions(canvas) if not in_vain)
    if d:
        yield path(d)


def _lines(canvas: Canvas) -> Iterator[Markup]:
    """A line for each lane, broken while its task is down."""
    layout = canvas.layout
    tasks: list[str] = []
    streams: list[str] = []
    down: list[str] = []
    for lane in range(len(layout.lanes)):
        is_task = layout.sources <= lane < layout.sources + layout.tasks
        x, y = canvas.margin, px(canvas.y(lane))
        for where, since, until in layout.down:
            if where == lane:
                tasks.append(f"M{px(x)} {y}H{px(canvas.x(since))}")
                down.append(f"M{px(canvas.x(since))} {y}H{px(canvas.x(until))}")
                x = canvas.x(until)
        (tasks if is_task else streams).append(f"M{px(x)} {y}H{px(canvas.right)}")
    yield path("".join(tasks), "t")
    yield path("".join(streams), "s")
    if down:
        yield path("".join(down), "d")


def _end(canvas: Canvas, message: Message, place: Place) -> tuple[float, float]:
    column, lane = place
    x = canvas.x(column)
    beside = canvas.arriving.get(place, ())
    if lane >= canvas.layout.sources + canvas.layout.tasks and len(beside) > 1:
        x += sum(beside[: message.shift]) + beside[message.shift] / 2 - sum(beside) / 2
    return x, canvas.y(lane)


def _bent(canvas: Canvas, message: Message, end: Place) -> str:
    """The way of a message: down from who sends it, and down to who takes it."""
    x1, y1 = canvas.x(message.start[0]), canvas.y(message.start[1])
    x2, y2 = _end(canvas, message, end)
    dx, dy = round(x2) - round(x1), round(y2) - round(y1)
    return f"M{px(x1)} {px(y1)}c0 {px(dy * 0.5)} {dx} {px(dy * 0.4)} {dx} {dy}"


def _messages(canvas: Canvas) -> Iterator[Markup]:
    for message in canvas.layout.messages:
        if message.end is not None:
            yield path(_bent(canvas, message, message.end), title=_title(message))


def _streams(canvas: Canvas) -> Iterator[Markup]:
    ways: dict[str, list[str]] = {}
    for message in canvas.layout.messages:
        if message.end is not None:
            x1, y1 = round(canvas.x(message.start[0])), round(canvas.y(message.start[1]))
            x2, y2 = _end(canvas, message, message.end)
            dx, dy = round(x2) - x1, round(y2) - y1
            ways.setdefault(message.stream, []).append(f"M{x1} {y1}l{dx} {dy}")
    for stream, drawn in ways.items():
        yield path("".join(drawn), title=stream)


def _joined(drawn: Iterable[tuple[str, str]]) -> Iterator[Markup]:
    if d := "".join(each for each, _ in drawn):
        yield path(d)


def _title(message: Message) -> str:
    return f"{message.stream}[{message.seq}] = {format_event(message.value)}, epoch {message.epoch}"


def _undelivered(canvas: Canvas) -> Iterator[Markup]:
    for message in canvas.layout.messages:
        if message.end is None:
            x, y = canvas.x(message.start[0]), canvas.y(message.start[1])
            yield path(f"M{px(x)} {px(y)}c0 7 5 7 7 12", title=f"{_title(message)}; nobody took it")


def _dots(canvas: Canvas, *, brief: bool) -> Markup:
    """Events: where they are handled, and where sources and sinks have them. A dot is a line of no length."""
    places = {place for act, place in canvas.layout.placed if act.do == "event"}
    points = {(canvas.x(column), canvas.y(lane)) for column, lane in places}
    if not brief:
        points |= {(canvas.x(m.start[0]), canvas.y(m.start[1])) for m in canvas.layout.messages}
        points |= {_end(canvas, m, m.end) for m in canvas.layout.messages if m.end is not None}
    d = "".join(f"M{px(x)} {px(y)}h0" for x, y in sorted(points))
    return path(d, "dt") if d else Markup("")


def _snapshots(canvas: Canvas) -> Iterator[tuple[str, str]]:
    for act, (column, lane) in canvas.layout.placed:
        if act.do == "border":
            d = f"M{px(canvas.x(column))} {px(canvas.y(lane) - 5)}l4 5-4 5-4-5z"
            yield d, f"snapshot of epoch {act.epoch} at {act.task}"


def _failures(canvas: Canvas) -> Iterator[Markup]:
    for column, lane in canvas.layout.failures:
        d = f"M{px(canvas.x(column) - 5)} {px(canvas.y(lane) - 5)}l10 10m-10 0l10-10"
        yield path(d, title=f"{canvas.layout.lanes[lane]} fails")


def _recoveries(canvas: Canvas) -> Iterator[Markup]:
    for act, (column, _) in canvas.layout.placed:
        if act.do == "recover":
            x = canvas.x(column)
            yield path(f"M{px(x)} {px(TOP - 10)}V{px(canvas.bottom)}", title="recovery")
            yield text(x, TOP - 12, "↻", "c")


def _looks(canvas: Canvas) -> Iterator[tuple[str, str]]:
    looks = [place for act, place in canvas.layout.placed if act.do == "look"]
    for index, (column, _) in enumerate(looks):
        yield f"M{px(canvas.x(column))} 12l-4-7h8z", f"observation {index}"


def _names(canvas: Canvas) -> Iterator[Markup]:
    for lane, name in enumerate(canvas.layout.lanes):
        short = name if len(name) <= NAME else f"{name[: NAME - 1]}…"
        yield text(canvas.margin - 8, canvas.y(lane) + 4, short)


def _values(canvas: Canvas) -> Iterator[Markup]:
    """What sources sent and sinks got, lane by lane."""
    layout = canvas.layout
    written: dict[int, dict[int, str]] = {}
    for message in layout.messages:
        for place, below in ((message.start, False), (message.end, True)):
            if place is not None and not layout.sources <= place[1] < layout.sources + layout.tasks:
                x, y = _end(canvas, message, place) if below else (canvas.x(place[0]), canvas.y(place[1]))
                written.setdefault(round(y) + (14 if below else -6), {})[round(x)] = label_event(message.value)
    return (text_row(y, values) for y, values in written.items())
