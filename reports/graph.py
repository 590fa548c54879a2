"""A dataflow graph as a drawing: sources on the left, sinks on the right, every task right of what it reads."""

from collections.abc import Iterator

from markupsafe import Markup

from conformance.case import Case, Graph
from conformance.codec import encode_case
from conformance.reports.svg import CHARACTER_WIDTH, drawing, group, path, px, text

LAYER, ROW, HEIGHT = 46.0, 40.0, 28.0
MOST = 60
"""Tasks that a drawing can hold."""

LONGEST = 18


def graph(case: Case) -> Markup:
    """The graph of a case; nothing, where it is too large to be seen."""
    if len(case.graph.tasks) > MOST:
        return Markup("")
    programs = _programs(case)
    layers = _layers(case.graph)
    x, places = 4.0, {}
    rows = max(map(len, layers))
    for layer in layers:
        width = max(_width(node, programs) for node in layer)
        offset = (rows - len(layer)) * ROW / 2
        for row, node in enumerate(layer):
            places[node] = (x, 4 + offset + row * ROW, width)
        x += width + LAYER
    parts = [
        group("ed", _edges(case.graph, places)),
        group("nd", _nodes(places, programs)),
    ]
    return drawing(x - LAYER + 4, rows * ROW + 2, "gr", "Dataflow graph", parts)


def _programs(case: Case) -> dict[str, str]:
    """What each task runs, with its parameters."""
    found = {}
    for task in encode_case(case)["graph"]["tasks"]:
        program = dict(task["program"])
        op = program.pop("op")
        found[task["name"]] = f"{op} {' '.join(map(str, program.values()))}".strip()
    return found


def _layers(graph: Graph) -> list[list[tuple[str, str]]]:
    """Nodes (kind, name) by how many tasks are before them; sinks behind everything."""
    depth = dict.fromkeys(graph.sources, 0)
    for task in graph.in_order:
        depth[task.output] = 1 + max(depth[stream] for stream in task.inputs)
    layers: list[list[tuple[str, str]]] = [[] for _ in range(max(depth.values()) + 2)]
    layers[0] = [("source", source) for source in graph.sources]
    for task in graph.in_order:
        layers[depth[task.output]].append(("task", task.name))
    layers[-1] = [("sink", sink) for sink in graph.sinks]
    return layers


def _width(node: tuple[str, str], programs: dict[str, str]) -> float:
    kind, name = node
    second = programs[name] if kind == "task" else ""
    return min(max(len(name), len(second)), LONGEST) * CHARACTER_WIDTH + 16


def _nodes(places: dict[tuple[str, str], tuple[float, float, float]], programs: dict[str, str]) -> Iterator[Markup]:
    for (kind, name), (x, y, width) in places.items():
        middle = x + width / 2
        if kind == "task":
            yield path(
                f"M{px(x)} {px(y)}h{px(width)}v{HEIGHT:g}h{px(-width)}z",
                "k",
            )
            yield text(middle, y + 12, _cut(name), "b")
            yield text(middle, y + 23, _cut(programs[name]), "o")
        else:
            yield text(middle, y + HEIGHT / 2 + 4, _cut(name), "s")


def _cut(said: str) -> str:
    return said if len(said) <= LONGEST else f"{said[: LONGEST - 1]}…"


def _edges(graph: Graph, places: dict[tuple[str, str], tuple[float, float, float]]) -> Iterator[Markup]:
    maker = {source: ("source", source) for source in graph.sources}
    maker |= {task.output: ("task", task.name) for task in graph.tasks}
    ends = [(maker[stream], ("task", task.name)) for task in graph.tasks for stream in task.inputs]
    ends += [(maker[sink], ("sink", sink)) for sink in graph.sinks]
    drawn = []
    for start, end in ends:
        x1, y1, width = places[start]
        x2, y2, _ = places[end]
        x1, y1, y2 = x1 + width, y1 + HEIGHT / 2, y2 + HEIGHT / 2
        dx, dy = x2 - x1 - 5, px(y2 - y1)
        if dy == "0":
            drawn.append(f"M{px(x1)} {px(y1)}h{px(dx)}")
            continue
        drawn.append(f"M{px(x1)} {px(y1)}c{px(dx / 2)} 0 {px(dx / 2)} {dy} {px(dx)} {dy}")
    return (path(d) for d in drawn)
