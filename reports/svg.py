"""Pieces of SVG. What stands in it was escaped; colours and strokes are the stylesheet's."""

from collections.abc import Iterable, Mapping
from itertools import pairwise

from markupsafe import Markup, escape

from conformance.reports.sanitize import shown

CHARACTER = 6.1
"""About how wide a character of a diagram's text is."""


def number(value: float) -> str:
    """A coordinate, as short as it can be: half a pixel nobody sees."""
    return str(round(value))


def polyline(points: Iterable[tuple[float, float]]) -> str:
    """A line through points, each as far from the one before as can be said in few characters."""
    whole = [(round(x), round(y)) for x, y in points]
    steps = [(x2 - x1, y2 - y1) for (x1, y1), (x2, y2) in pairwise(whole)]
    said = [f"M{whole[0][0]} {whole[0][1]}"]
    down = 0
    for dx, dy in [*steps, (1, 0)]:
        if dx == 0 and (down == 0 or (down > 0) == (dy > 0)):
            down += dy
            continue
        if down:
            said.append(f"v{down}")
        down = dy if dx == 0 else 0
        if dx:
            said.append(f"h{dx}" if dy == 0 else f"l{dx} {dy}")
    return "".join(said[:-1])


def text(x: float, y: float, said: str, kind: str = "") -> Markup:
    """A line of text."""
    marked = f" class={kind}" if kind else ""
    return Markup(f"<text x={number(x)} y={number(y)}{marked}>{escape(shown(said))}</text>")  # noqa: S704 - escaped


def texts(y: float, said: Mapping[int, str]) -> Markup:
    """Texts on a line, by where they stand on it."""
    spans = Markup("").join(
        Markup(f"<tspan x={x}>{escape(shown(each))}</tspan>")  # noqa: S704 - escaped
        for x, each in said.items()
    )
    return Markup(f"<text y={number(y)}>{spans}</text>")  # noqa: S704 - of escaped parts


def path(d: str, kind: str = "", title: str = "") -> Markup:
    """A path; its title is what a pointer over it shows."""
    marked = f" class={kind}" if kind else ""
    said = f"><title>{escape(shown(title))}</title></path>" if title else "/>"
    return Markup(f'<path{marked} d="{d}"{said}')  # noqa: S704 - escaped


def group(kind: str, parts: Iterable[Markup]) -> Markup:
    """Parts of one kind; nothing, if there are none."""
    inside = Markup("").join(parts)
    return Markup(f"<g class={kind}>{inside}</g>") if inside else Markup("")  # noqa: S704 - of escaped parts


def drawing(width: float, height: float, kind: str, label: str, parts: Iterable[Markup]) -> Markup:
    """The whole, as an image with a name."""
    inside = Markup("").join(parts)
    w, h = number(width), number(height)
    return Markup(  # noqa: S704 - escaped, or of escaped parts
        f'<svg class="{kind}" width={w} height={h} viewBox="0 0 {w} {h}" role=img '
        f'aria-label="{escape(shown(label))}">{inside}</svg>'
    )
