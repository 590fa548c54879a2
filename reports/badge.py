"""The verdict as a badge: for shields' endpoint, and as a picture of its own."""

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
"""By verdict: shields' word for it, and one dark enough for white text."""

LETTER = 6.6
"""About how wide a letter is."""

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


def message(tally: Tally) -> str:
    """What a badge says, in a few words."""
    verdict = tally.verdict[0]
    cases = len(tally.exercised)
    return f"{verdict} · {cases} case{'' if cases == 1 else 's'}" if cases else verdict


def endpoint(tally: Tally) -> str:
    """JSON for https://shields.io/badges/endpoint-badge."""
    colour, _ = COLOURS[tally.verdict[0]]
    return json.dumps({"schemaVersion": 1, "label": LABEL, "message": message(tally), "color": colour}) + "\n"


def svg(tally: Tally) -> str:
    """The picture."""
    _, colour = COLOURS[tally.verdict[0]]
    said = message(tally)
    left, right = (round(len(text) * LETTER) + 12 for text in (LABEL, said))
    return SVG.format(
        width=left + right,
        left=left,
        right=right,
        middle_left=left / 2,
        middle_right=left + right / 2,
        colour=colour,
        label=escape(LABEL),
        message=escape(said),
    )
