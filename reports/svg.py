"""
SVG elements as escaped markup: one function an element, named after it.

Every text is sanitized and escaped here. Colours and strokes are in the stylesheet, by CSS class. Elements are written
as short as possible, because a report has thousands of them.
"""

from collections.abc import Iterable, Mapping
from itertools import pairwise

from markupsafe import Markup, escape

from conformance.reports.sanitize import sanitize

CHARACTER_WIDTH = 6.1
"""Approximate width of a character of a diagram's text."""


def px(value: float) -> str:
    """Format a coordinate in whole pixels."""
    return str(round(value))


def polyline(points: Iterable[tuple[float, float]]) -> str:
    """Return the path data of a line through points, with relative steps and joined vertical ones."""
    rounded = [(round(x), round(y)) for x, y in points]
    steps = [(x2 - x1, y2 - y1) for (x1, y1), (x2, y2) in pairwise(rounded)]
    commands = [f"M{rounded[0][0]} {rounded[0][1]}"]
    down = 0
    for dx, dy in [*steps, (1, 0)]:
        if dx == 0 and (down == 0 or (down > 0) == (dy > 0)):
            down += dy
            continue
        if down:
            commands.append(f"v{down}")
        down = dy if dx == 0 else 0
        if dx:
            commands.append(f"h{dx}" if dy == 0 else f"l{dx} {dy}")
    return "".join(commands[:-1])


def text(x: float, y: float, content: str, css_class: str = "") -> Markup:
    """Return a line of text."""
    attributes = f"x={px(x)} y={px(y)}{_class(css_class)}"
    return Markup(f"<text {attributes}>{escape(sanitize(content))}</text>")  # noqa: S704 - escaped


def text_row(y: float, contents: Mapping[int, str]) -> Markup:
    """Return several texts on one line, by their x coordinate."""
    spans = Markup("").join(
        Markup(f"<tspan x={x}>{escape(sanitize(content))}</tspan>")  # noqa: S704 - escaped
        for x, content in contents.items()
    )
    return Markup(f"<text y={px(y)}>{spans}</text>")  # noqa: S704 - of escaped parts


def path(data: str, css_class: str = "", title: str = "") -> Markup:
    """Return a path. A pointer over it shows its title."""
    end = f"><title>{escape(sanitize(title))}</title></path>" if title else "/>"
    return Markup(f'<path{_class(css_class)} d="{data}"{end}')  # noqa: S704 - escaped


def group(css_class: str, elements: Iterable[Markup]) -> Markup:
    """Return a group of elements; empty markup, if there are none."""
    content = Markup("").join(elements)
    return Markup(f"<g class={css_class}>{content}</g>") if content else Markup("")  # noqa: S704 - of escaped parts


def drawing(width: float, height: float, css_class: str, label: str, elements: Iterable[Markup]) -> Markup:
    """Return the `svg` element, as an image with a label for screen readers."""
    content = Markup("").join(elements)
    w, h = px(width), px(height)
    return Markup(  # noqa: S704 - escaped, or of escaped parts
        f'<svg class="{css_class}" width={w} height={h} viewBox="0 0 {w} {h}" role=img '
        f'aria-label="{escape(sanitize(label))}">{content}</svg>'
    )


def _class(css_class: str) -> str:
    return f" class={css_class}" if css_class else ""
