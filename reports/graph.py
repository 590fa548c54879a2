"""Drawing of a dataflow graph: sources on the left, sinks on the right, every task right of its inputs."""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from markupsafe import Markup

from conformance.case import Case, Graph
from conformance.codec import encode_case
from conformance.reports.svg import CHARACTER_WIDTH, drawing, group, path, px, text

LAYER_GAP, ROW_HEIGHT, NODE_HEIGHT = 46.0, 40.0, 28.0

MAX_TASKS = 60
"""Tasks of a graph that is drawn."""

MAX_NAME_LENGTH = 18
"""Characters of a name or a program."""

Node: TypeAlias = tuple[str, str]
"""The kind ("source", "task" or "sink") and the name."""

Box: TypeAlias = tuple[float, float, float]
"""The left edge, the top edge and the width of a node."""


def draw_graph(case: Case) -> Markup:
    """Draw the graph of a case; empty markup, if it is too large."""
    if len(case.graph.tasks) > MAX_TASKS:
        return Markup("")
    programs = _programs(case)
    layers = _layers(case.graph)
    x, boxes = 4.0, {}
    rows = max(map(len, layers))
    for layer in layers:
        width = max(_width(node, programs) for node in layer)
        offset = (rows - len(layer)) * ROW_HEIGHT / 2
        for row, node in enumerate(layer):
            boxes[node] = (x, 4 + offset + row * ROW_HEIGHT, width)
        x += width + LAYER_GAP
    elements = [
        group("ed", _draw_edges(case.graph, boxes)),
        group("nd", _draw_nodes(boxes, programs)),
    ]
    return drawing(x - LAYER_GAP + 4, rows * ROW_HEIGHT + 2, "gr", "Dataflow graph", elements)


def _programs(case: Case) -> dict[str, str]:
    """Return the program of each task, with its parameters."""
    programs = {}
    for task in encode_case(case)["graph"]["tasks"]:
        program = dict(task["program"])
        op = program.pop("op")
        programs[task["name"]] = f"{op} {' '.join(map(str, program.values()))}".strip()
    return programs


def _layers(graph: Graph) -> list[list[Node]]:
    """Return the nodes by the number of tasks before them, with the sinks last."""
    depth = dict.fromkeys(graph.sources, 0)
    for task in graph.in_order:
        depth[task.output] = 1 + max(depth[stream] for stream in task.inputs)
    layers: list[list[Node]] = [[] for _ in range(max(depth.values()) + 2)]
    layers[0] = [("source", source) for source in graph.sources]
    for task in graph.in_order:
        layers[depth[task.output]].append(("task", task.name))
    layers[-1] = [("sink", sink) for sink in graph.sinks]
    return layers


def _width(node: Node, programs: Mapping[str, str]) -> float:
    kind, name = node
    program = programs[name] if kind == "task" else ""
    return min(max(len(name), len(program)), MAX_NAME_LENGTH) * CHARACTER_WIDTH + 16


def _draw_nodes(boxes: Mapping[Node, Box], programs: Mapping[str, str]) -> Iterator[Markup]:
    for (kind, name), (x, y, width) in boxes.items():
        middle = x + width / 2
        if kind == "task":
            yield path(
                f"M{px(x)} {px(y)}h{px(width)}v{NODE_HEIGHT:g}h{px(-width)}z",
                "k",
            )
            yield text(middle, y + 12, _shorten(name), "b")
            yield text(middle, y + 23, _shorten(programs[name]), "o")
        else:
            yield text(middle, y + NODE_HEIGHT / 2 + 4, _shorten(name), "s")


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_NAME_LENGTH else f"{text[: MAX_NAME_LENGTH - 1]}…"


def _draw_edges(graph: Graph, boxes: Mapping[Node, Box]) -> Iterator[Markup]:
    producers = {source: ("source", source) for source in graph.sources}
    producers |= {task.output: ("task", task.name) for task in graph.tasks}
    ends = [(producers[stream], ("task", task.name)) for task in graph.tasks for stream in task.inputs]
    ends += [(producers[sink], ("sink", sink)) for sink in graph.sinks]
    lines = []
    for start, end in ends:
        x1, y1, width = boxes[start]
        x2, y2, _ = boxes[end]
        x1, y1, y2 = x1 + width, y1 + NODE_HEIGHT / 2, y2 + NODE_HEIGHT / 2
        dx, dy = x2 - x1 - 5, px(y2 - y1)
        if dy == "0":
            lines.append(f"M{px(x1)} {px(y1)}h{px(dx)}")
            continue
        lines.append(f"M{px(x1)} {px(y1)}c{px(dx / 2)} 0 {px(dx / 2)} {dy} {px(dx)} {dy}")
    return (path(d) for d in lines)
