"""
Drawing of a space-time diagram, in the manner of the paper's figures.

Each task has a horizontal line, with the sources above and the sinks below. Messages run between the lines. A diamond
marks the snapshot that a task takes at a border. The snapshots of one epoch are joined by the cut that commits it, and
the area of the epoch is shaded. Work that was lost is hatched. A cross marks a failure, and a vertical line a recovery.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TypeAlias

from attrs import frozen
from markupsafe import Markup

from conformance.case import Case
from conformance.reports.lanes import (
    HEADER_HEIGHT,
    LANE_HEIGHT,
    AttemptSpan,
    DiagramLayout,
    MessageArrow,
    Position,
    lay_out,
    measure_columns,
    measure_label,
)
from conformance.reports.sanitize import format_event, label_event
from conformance.reports.svg import CHARACTER_WIDTH, drawing, group, path, polyline, px, text, text_row
from conformance.reports.timeline import Timeline

SHADES = 4
"""Tints that alternate between epochs."""

MAX_NAME_LENGTH = 13
"""Characters of a lane's name."""

Point: TypeAlias = tuple[float, float]


@frozen
class Canvas:
    """The coordinates of columns and lanes."""

    layout: DiagramLayout
    column_edges: Sequence[float]
    margin: float
    label_widths: Mapping[Position, Sequence[float]]
    """The widths of the labels that stand side by side where several messages arrive at a sink in one column."""

    def x(self, column: int) -> float:
        """Return the middle of a column."""
        left = min(column, len(self.column_edges) - 2)
        return self.margin + (self.column_edges[left] + self.column_edges[left + 1]) / 2

    def y(self, lane: int) -> float:
        return HEADER_HEIGHT + LANE_HEIGHT * lane + LANE_HEIGHT / 2

    def start(self, message: MessageArrow) -> Point:
        column, lane = message.start
        return self.x(column), self.y(lane)

    def end(self, message: MessageArrow, position: Position) -> Point:
        column, lane = position
        x = self.x(column)
        widths = self.label_widths.get(position, ())
        if lane >= self.layout.sources + self.layout.tasks and len(widths) > 1:
            x += sum(widths[: message.index]) + widths[message.index] / 2 - sum(widths) / 2
        return x, self.y(lane)

    @property
    def top(self) -> float:
        return HEADER_HEIGHT

    @property
    def bottom(self) -> float:
        return HEADER_HEIGHT + LANE_HEIGHT * len(self.layout.lanes)

    @property
    def right(self) -> float:
        return self.x(self.layout.columns) + 4


def draw_spacetime(case: Case, timeline: Timeline, name: str, *, inferred: bool = False, brief: bool = False) -> Markup:
    """Draw a timeline. A brief diagram has one element a stream, not one a message: for reports with many diagrams."""
    canvas = _canvas(lay_out(case, timeline))
    elements = [
        group("sh", _draw_epochs(canvas)),
        group("ln", _draw_lanes(canvas)),
        group("ct", () if brief else _draw_cuts(canvas)),
        group("ms", _draw_streams(canvas) if brief else _draw_messages(canvas)),
        group("un", _draw_undelivered(canvas)),
        _draw_events(canvas, brief=brief),
        group("sn", _draw_marks(_snapshots(canvas), brief=brief)),
        group("fl", _draw_failures(canvas)),
        group("rc", _draw_recoveries(canvas)),
        group("lk", _draw_marks(_observations(canvas), brief=brief)),
        group("nm", _draw_names(canvas)),
        group("vl", _draw_labels(canvas)),
    ]
    css_class = "st in" if inferred else "st"
    return drawing(canvas.right + 8, canvas.bottom + 6, css_class, name, elements)


def _canvas(layout: DiagramLayout) -> Canvas:
    margin = min(max(map(len, layout.lanes)), MAX_NAME_LENGTH) * CHARACTER_WIDTH + 14
    label_widths: dict[Position, list[float]] = {}
    for message in layout.messages:
        if message.end is not None:
            label_widths.setdefault(message.end, []).append(measure_label(message))
    return Canvas(layout, [0.0, *accumulate(measure_columns(layout))], margin, label_widths)


def _boundary(canvas: Canvas, attempt: AttemptSpan, epoch: int) -> list[Point]:
    """Return where each lane passes the border of an epoch, from top to bottom."""
    cut = attempt.cuts.get(epoch, {})
    points = [(canvas.x(cut.get(lane, attempt.end)), canvas.y(lane)) for lane in range(len(canvas.layout.lanes))]
    return [(points[0][0], canvas.top), *points, (points[-1][0], canvas.bottom)]


def _regions(canvas: Canvas) -> Iterator[tuple[int | None, list[Point], list[Point]]]:
    """Yield the areas of a diagram: the committed epoch or, for lost work, None; the left and right boundary."""
    for attempt in canvas.layout.attempts:
        start = canvas.x(attempt.start) if attempt.start else canvas.margin
        left = [(start, canvas.top), (start, canvas.bottom)]
        for epoch in sorted(attempt.cuts):
            if canvas.layout.is_complete(attempt, epoch):
                right = _boundary(canvas, attempt, epoch)
                yield epoch, left, right
                left = right
        if attempt.recovered:
            end = canvas.x(attempt.end)
            yield None, left, [(end, canvas.top), (end, canvas.bottom)]


def _draw_epochs(canvas: Canvas) -> Iterator[Markup]:
    for epoch, left, right in _regions(canvas):
        area = f"{polyline([*left, *reversed(right)])}z"
        if epoch is None:
            yield path(area, "x")
        else:
            yield path(area, f"e{epoch % SHADES}")
            has_room = right[0][0] - left[0][0] > len("epoch 1") * CHARACTER_WIDTH
            label = f"epoch {epoch}" if has_room else str(epoch)
            yield text((left[0][0] + right[0][0]) / 2, HEADER_HEIGHT - 3, label, "c")


def _draw_cuts(canvas: Canvas) -> Iterator[Markup]:
    if cuts := "".join(polyline(right) for epoch, _, right in _regions(canvas) if epoch is not None):
        yield path(cuts)


def _draw_lanes(canvas: Canvas) -> Iterator[Markup]:
    """Draw a line for each lane, with gaps where its task is down."""
    layout = canvas.layout
    tasks: list[str] = []
    streams: list[str] = []
    outages: list[str] = []
    for lane in range(len(layout.lanes)):
        x, y = canvas.margin, px(canvas.y(lane))
        for down, since, until in layout.outages:
            if down == lane:
                tasks.append(f"M{px(x)} {y}H{px(canvas.x(since))}")
                outages.append(f"M{px(canvas.x(since))} {y}H{px(canvas.x(until))}")
                x = canvas.x(until)
        (tasks if layout.is_task(lane) else streams).append(f"M{px(x)} {y}H{px(canvas.right)}")
    yield path("".join(tasks), "t")
    yield path("".join(streams), "s")
    if outages:
        yield path("".join(outages), "d")


def _arrows(canvas: Canvas) -> Iterator[tuple[MessageArrow, str, int, int]]:
    """Yield each message that arrives: where its path starts, and how far it goes to the right and down."""
    for message in canvas.layout.messages:
        if message.end is not None:
            x1, y1 = canvas.start(message)
            x2, y2 = canvas.end(message, message.end)
            yield message, f"M{px(x1)} {px(y1)}", round(x2) - round(x1), round(y2) - round(y1)


def _draw_messages(canvas: Canvas) -> Iterator[Markup]:
    for message, start, dx, dy in _arrows(canvas):
        yield path(f"{start}c0 {px(dy * 0.5)} {dx} {px(dy * 0.4)} {dx} {dy}", title=_title(message))


def _draw_streams(canvas: Canvas) -> Iterator[Markup]:
    lines: dict[str, list[str]] = {}
    for message, start, dx, dy in _arrows(canvas):
        lines.setdefault(message.stream, []).append(f"{start}l{dx} {dy}")
    for stream, drawn in lines.items():
        yield path("".join(drawn), title=stream)


def _title(message: MessageArrow) -> str:
    return f"{message.stream}[{message.seq}] = {format_event(message.value)}, epoch {message.epoch}"


def _draw_undelivered(canvas: Canvas) -> Iterator[Markup]:
    for message in canvas.layout.messages:
        if message.end is None:
            x, y = canvas.start(message)
            yield path(f"M{px(x)} {px(y)}c0 7 5 7 7 12", title=f"{_title(message)}; not delivered")


def _draw_events(canvas: Canvas, *, brief: bool) -> Markup:
    """Draw a dot where a task reads an event, a source sends it or a sink receives it. A dot is a line of no length."""
    layout = canvas.layout
    points = {(canvas.x(column), canvas.y(lane)) for entry, (column, lane) in layout.entries if entry.kind == "event"}
    if not brief:
        points |= {canvas.start(message) for message in layout.messages}
        points |= {canvas.end(message, message.end) for message in layout.messages if message.end is not None}
    dots = "".join(f"M{px(x)} {px(y)}h0" for x, y in sorted(points))
    return path(dots, "dt") if dots else Markup("")


def _draw_marks(marks: Iterable[tuple[str, str]], *, brief: bool) -> Iterator[Markup]:
    """Draw marks, each with its title; in a brief diagram as one element without titles."""
    if not brief:
        yield from (path(shape, title=title) for shape, title in marks)
    elif shapes := "".join(shape for shape, _ in marks):
        yield path(shapes)


def _snapshots(canvas: Canvas) -> Iterator[tuple[str, str]]:
    for entry, (column, lane) in canvas.layout.entries:
        if entry.kind == "border":
            diamond = f"M{px(canvas.x(column))} {px(canvas.y(lane) - 5)}l4 5-4 5-4-5z"
            yield diamond, f"snapshot of epoch {entry.epoch} at {entry.task}"


def _observations(canvas: Canvas) -> Iterator[tuple[str, str]]:
    columns = [column for entry, (column, _) in canvas.layout.entries if entry.kind == "look"]
    for index, column in enumerate(columns):
        yield f"M{px(canvas.x(column))} 12l-4-7h8z", f"observation {index}"


def _draw_failures(canvas: Canvas) -> Iterator[Markup]:
    for column, lane in canvas.layout.failures:
        cross = f"M{px(canvas.x(column) - 5)} {px(canvas.y(lane) - 5)}l10 10m-10 0l10-10"
        yield path(cross, title=f"{canvas.layout.lanes[lane]} fails")


def _draw_recoveries(canvas: Canvas) -> Iterator[Markup]:
    for entry, (column, _) in canvas.layout.entries:
        if entry.kind == "recover":
            x = canvas.x(column)
            yield path(f"M{px(x)} {px(HEADER_HEIGHT - 10)}V{px(canvas.bottom)}", title="recovery")
            yield text(x, HEADER_HEIGHT - 12, "↻", "c")


def _draw_names(canvas: Canvas) -> Iterator[Markup]:
    for lane, name in enumerate(canvas.layout.lanes):
        short = name if len(name) <= MAX_NAME_LENGTH else f"{name[: MAX_NAME_LENGTH - 1]}…"
        yield text(canvas.margin - 8, canvas.y(lane) + 4, short)


def _draw_labels(canvas: Canvas) -> Iterator[Markup]:
    """Write the events that sources send above their lane, and those that sinks receive below theirs."""
    rows: dict[int, dict[int, str]] = {}
    for message in canvas.layout.messages:
        label = label_event(message.value)
        if not canvas.layout.is_task(message.start[1]):
            x, y = canvas.start(message)
            rows.setdefault(round(y) - 6, {})[round(x)] = label
        if message.end is not None and not canvas.layout.is_task(message.end[1]):
            x, y = canvas.end(message, message.end)
            rows.setdefault(round(y) + 14, {})[round(x)] = label
    return (text_row(y, labels) for y, labels in rows.items())
