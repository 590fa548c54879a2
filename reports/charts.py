"""Charts of numbers: a bar for a share, a histogram for a distribution, a trend over several campaigns."""

from collections import Counter
from collections.abc import Sequence
from math import ceil, exp, log
from statistics import median

from attrs import frozen
from markupsafe import Markup

from conformance.reports.svg import drawing, px, text

WIDTH, HEIGHT = 300.0, 64.0
BINS = 16
MAX_VALUES = 24
"""Whole numbers that have a bar of their own; the last bar is of all above it, too."""


@frozen
class Histogram:
    """A distribution: of which quantity, how many samples, a summary in words, and the drawing."""

    quantity: str
    samples: int
    summary: str
    svg: Markup


def draw_bar(share: float) -> Markup:
    """Draw a share of a whole. The number stands beside the bar, so screen readers skip the drawing."""
    width = px(max(0.0, min(1.0, share)) * 100)
    return Markup(  # noqa: S704 - numbers
        '<svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="b" width="100" height="6"/><rect class="f" width="{width}" height="6"/></svg>'
    )


def format_seconds(value: float) -> str:
    """Format a duration with two or three digits."""
    if value < 1:
        return f"{value * 1000:.0f} ms"
    return f"{value:.1f} s" if value < 100 else f"{value:,.0f} s"  # noqa: PLR2004 - three digits


def draw_time_histogram(quantity: str, values: Sequence[float]) -> Histogram:
    """Draw a distribution of seconds on a logarithmic axis."""
    least, most = max(min(values), 1e-3), max(*values, 1.1e-3)
    low, high = log(least), max(log(most), log(least) + 0.1)
    bins: Counter[int] = Counter()
    for value in values:
        bins[min(BINS - 1, int((log(max(value, least)) - low) / (high - low) * BINS))] += 1
    percentile = sorted(values)[ceil(len(values) * 0.95) - 1]
    summary = f"median {format_seconds(median(values))}, 95% within {format_seconds(percentile)}"
    elements = _bars([bins[n] for n in range(BINS)], WIDTH / BINS, 1.5)
    elements += [
        text(0, HEIGHT - 3, format_seconds(exp(low))),
        text(WIDTH / 2, HEIGHT - 3, format_seconds(exp((low + high) / 2)), "c"),
        text(WIDTH, HEIGHT - 3, format_seconds(exp(high)), "r"),
    ]
    return _histogram(quantity, len(values), summary, elements)


def draw_number_histogram(quantity: str, values: Sequence[int]) -> Histogram:
    """Draw a distribution of small whole numbers, a bar for each number."""
    first = min(values)
    last = min(max(values), first + MAX_VALUES - 1)
    bins = Counter(min(value, last) for value in values)
    step = min(WIDTH / (last - first + 1), 36.0)
    gap = 6.0 if step > 20 else 1.5  # noqa: PLR2004 - pixels
    elements = _bars([bins[n] for n in range(first, last + 1)], step, gap)
    for n in range(first, last + 1):
        if step > 14 or n in {first, last}:  # noqa: PLR2004 - there is room for a number below each
            label = f"{n}+" if n < max(values) and n == last else str(n)
            elements.append(text((n - first + 0.5) * step, HEIGHT - 3, label, "c"))
    summary = f"median {median(values):g}, at most {max(values)}"
    return _histogram(quantity, len(values), summary, elements)


def _histogram(quantity: str, samples: int, summary: str, elements: list[Markup]) -> Histogram:
    svg = drawing(WIDTH, HEIGHT, "hist", f"{quantity}: {summary}", elements)
    return Histogram(quantity, samples, summary, svg)


def _bars(counts: Sequence[int], step: float, gap: float) -> list[Markup]:
    top, room = max(counts), HEIGHT - 18
    bars = [
        Markup(  # noqa: S704 - numbers
            f'<rect x="{index * step + gap / 2:.1f}" y="{HEIGHT - 16 - count / top * room:.1f}" '
            f'width="{step - gap:.1f}" height="{count / top * room:.1f}"/>'
        )
        for index, count in enumerate(counts)
        if count
    ]
    axis = Markup(f'<path d="M0 {HEIGHT - 15:g}H{step * len(counts):.0f}"/>')  # noqa: S704 - numbers
    return [*bars, axis]


def draw_trend(values: Sequence[float | None], label: str) -> Markup:
    """Draw a quantity over campaigns: a line through the known values, nothing if fewer than two are known."""
    known = [value for value in values if value is not None]
    if len(known) < 2:  # noqa: PLR2004 - one point is no line
        return Markup("")
    top = max(known) or 1.0
    step = WIDTH / max(1, len(values) - 1)
    points = [(n * step * 0.94 + 9, 44 - value / top * 36) for n, value in enumerate(values) if value is not None]
    line = "L".join(f"{px(x)} {px(y)}" for x, y in points)
    dots = "".join(f"M{px(x)} {px(y)}h0" for x, y in points)
    return drawing(WIDTH, 50, "trend", label, [Markup(f'<path d="M{line}"/><path class="dt" d="{dots}"/>')])  # noqa: S704
