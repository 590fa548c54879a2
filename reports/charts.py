"""Small charts: how much of a whole, and how something is spread."""

from collections import Counter
from collections.abc import Sequence
from math import ceil, exp, log
from statistics import median

from attrs import frozen
from markupsafe import Markup

from conformance.reports.svg import drawing, number, text

WIDTH, HEIGHT = 300.0, 64.0
BINS = 16
MOST_VALUES = 24


@frozen
class Spread:
    """A distribution: what of, how many, in words, and drawn."""

    of: str
    number: int
    words: str
    drawn: Markup


def bar(share: float) -> Markup:
    """How much of a whole. The figure stands beside it."""
    width = number(max(0.0, min(1.0, share)) * 100)
    return Markup(  # noqa: S704 - numbers
        '<svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="b" width="100" height="6"/><rect class="f" width="{width}" height="6"/></svg>'
    )


def seconds(value: float) -> str:
    """A time, as short as it can be said."""
    if value < 1:
        return f"{value * 1000:.0f} ms"
    return f"{value:.1f} s" if value < 100 else f"{value:,.0f} s"  # noqa: PLR2004 - three digits


def spread_of_times(of: str, values: Sequence[float]) -> Spread:
    """Times, on a logarithmic axis."""
    least, most = max(min(values), 1e-3), max(*values, 1.1e-3)
    low, high = log(least), max(log(most), log(least) + 0.1)
    bins: Counter[int] = Counter()
    for value in values:
        bins[min(BINS - 1, int((log(max(value, least)) - low) / (high - low) * BINS))] += 1
    late = sorted(values)[ceil(len(values) * 0.95) - 1]
    words = f"median {seconds(median(values))}, 95% within {seconds(late)}"
    drawn = _bars([bins[n] for n in range(BINS)], WIDTH / BINS, 1.5)
    drawn += [
        text(0, HEIGHT - 3, seconds(exp(low))),
        text(WIDTH / 2, HEIGHT - 3, seconds(exp((low + high) / 2)), "c"),
        text(WIDTH, HEIGHT - 3, seconds(exp(high)), "r"),
    ]
    return Spread(of, len(values), words, drawing(WIDTH, HEIGHT, "hist", f"{of}: {words}", drawn))


def spread_of_numbers(of: str, values: Sequence[int]) -> Spread:
    """Small whole numbers, a bar for each."""
    first = min(values)
    last = min(max(values), first + MOST_VALUES - 1)
    bins = Counter(min(value, last) for value in values)
    words = f"median {median(values):g}, at most {max(values)}"
    step = min(WIDTH / (last - first + 1), 36.0)
    drawn = _bars([bins[n] for n in range(first, last + 1)], step, 6.0 if step > 20 else 1.5)  # noqa: PLR2004 - pixels
    for n in range(first, last + 1):
        if step > 14 or n in {first, last}:  # noqa: PLR2004 - there is room for a number below each
            drawn.append(
                text((n - first + 0.5) * step, HEIGHT - 3, f"{n}+" if n < max(values) and n == last else str(n), "c")
            )
    return Spread(of, len(values), words, drawing(WIDTH, HEIGHT, "hist", f"{of}: {words}", drawn))


def _bars(counts: Sequence[int], step: float, gap: float) -> list[Markup]:
    top, room = max(counts), HEIGHT - 18
    bars = [
        Markup(  # noqa: S704 - numbers
            f'<rect x="{place * step + gap / 2:.1f}" y="{HEIGHT - 16 - count / top * room:.1f}" '
            f'width="{step - gap:.1f}" height="{count / top * room:.1f}"/>'
        )
        for place, count in enumerate(counts)
        if count
    ]
    axis = Markup(f'<path d="M0 {HEIGHT - 15:g}H{step * len(counts):.0f}"/>')  # noqa: S704 - numbers
    return [*bars, axis]


def line(values: Sequence[float | None], label: str) -> Markup:
    """Something from one run to the next: a point each, joined where there is one; none where nothing is known."""
    known = [value for value in values if value is not None]
    if len(known) < 2:  # noqa: PLR2004 - one point is no line
        return Markup("")
    top = max(known) or 1.0
    step = WIDTH / max(1, len(values) - 1)
    places = [(n * step * 0.94 + 9, 44 - value / top * 36) for n, value in enumerate(values) if value is not None]
    d = "L".join(f"{number(x)} {number(y)}" for x, y in places)
    dots = "".join(f"M{number(x)} {number(y)}h0" for x, y in places)
    return drawing(WIDTH, 50, "trend", label, [Markup(f'<path d="M{d}"/><path class="dt" d="{dots}"/>')])  # noqa: S704
