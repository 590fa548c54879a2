"""Pieces of SVG. What stands in it was escaped; colours and strokes are the stylesheet's."""

from collections.abc import Iterable

from markupsafe import Markup, escape

from reports.shown import shown

CHARACTER = 6.1
"""About how wide a character of a diagram's text is."""


def number(value: float) -> str:
    """A coordinate, as short as it can be."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


def text(x: float, y: float, said: str, kind: str = "") -> Markup:
    """A line of text."""
    marked = f' class="{kind}"' if kind else ""
    return Markup(f'<text x="{number(x)}" y="{number(y)}"{marked}>{escape(shown(said))}</text>')  # noqa: S704 - escaped


def path(d: str, kind: str = "", title: str = "") -> Markup:
    """A path; its title is what a pointer over it shows."""
    marked = f' class="{kind}"' if kind else ""
    said = f"><title>{escape(shown(title))}</title></path>" if title else "/>"
    return Markup(f'<path d="{d}"{marked}{said}')  # noqa: S704 - escaped


def group(kind: str, parts: Iterable[Markup]) -> Markup:
    """Parts of one kind; nothing, if there are none."""
    inside = Markup("").join(parts)
    return Markup(f'<g class="{kind}">{inside}</g>') if inside else Markup("")  # noqa: S704 - of escaped parts


def drawing(width: float, height: float, kind: str, label: str, parts: Iterable[Markup]) -> Markup:
    """The whole, as an image with a name."""
    inside = Markup("").join(parts)
    w, h = number(width), number(height)
    return Markup(  # noqa: S704 - escaped, or of escaped parts
        f'<svg class="{kind}" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" '
        f'aria-label="{escape(shown(label))}">{inside}</svg>'
    )
