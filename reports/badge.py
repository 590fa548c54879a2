"""The verdict as a badge: JSON for an endpoint of shields.io, and an SVG image."""

import json
from html import escape

from conformance.campaign.tally import EngineVerdict, Tally

LABEL = "failure transparency"

COLOURS: dict[EngineVerdict, tuple[str, str]] = {
    "conforms": ("brightgreen", "#2f8132"),
    "violates": ("red", "#b3261e"),
    "inconclusive": ("yellow", "#7a5d00"),
    "unsupported": ("lightgrey", "#5f6368"),
    "error": ("orange", "#a04b00"),
}
"""By verdict: the colour's name at shields.io, and a colour dark enough for white text."""

LETTER_WIDTH = 6.6
"""Approximate width of a letter."""

SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{label}: {message}">
  <title>{label}: {message}</title>
  <rect width="{left}" height="20" fill="#444"/>
  <rect x="{left}" width="{right}" height="20" fill="{colour}"/>
  <g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
    <text x="{middle_left}" y="14">{label}</text>
    <text x="{middle_right}" y="14">{message}</text>
  </g>
</svg>
"""


def format_message(tally: Tally) -> str:
    """Format the right half of the badge: the verdict and the number of cases that count."""
    verdict = tally.verdict[0]
    cases = len(tally.exercised)
    return f"{verdict} · {cases} case{'' if cases == 1 else 's'}" if cases else verdict


def format_endpoint(tally: Tally) -> str:
    """Format the JSON for https://shields.io/badges/endpoint-badge."""
    colour, _ = COLOURS[tally.verdict[0]]
    return json.dumps({"schemaVersion": 1, "label": LABEL, "message": format_message(tally), "color": colour}) + "\n"


def draw_badge(tally: Tally) -> str:
    """Draw the badge as an SVG image."""
    _, colour = COLOURS[tally.verdict[0]]
    message = format_message(tally)
    left, right = (round(len(text) * LETTER_WIDTH) + 12 for text in (LABEL, message))
    return SVG.format(
        width=left + right,
        left=left,
        right=right,
        middle_left=left / 2,
        middle_right=left + right / 2,
        colour=colour,
        label=escape(LABEL),
        message=escape(message),
    )
