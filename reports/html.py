"""
The report as one HTML file that needs nothing else: no network, no script to be readable, no file beside it.

Whatever an engine or a file supplied is text: it is made printable and cut by `finalize`, which every expression of the
templates goes through, and escaped behind that. What still got through could not run: the page allows the one script
and the one stylesheet that are in it, by their hashes, and nothing else.
"""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from conformance import __version__
from conformance.codec import write_text
from conformance.errors import Unwritable
from conformance.reports.labels import ICONS, MEANINGS, format_prose
from conformance.reports.sanitize import sanitize
from conformance.reports.view import Report, report


def write_report(folder: Path, out: Path, before: Sequence[Path] = ()) -> None:
    """Write the report on what stands in a folder."""
    text = render(report(folder, before))
    try:
        write_text(out, text)
    except OSError as error:
        raise Unwritable(str(out), error.strerror or str(error), "Give another file with --out.") from None


def render(found: Report) -> str:
    """The text of the file."""
    style, script = _asset("style.css"), _asset("script.js")
    policy = f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'"
    return (
        _environment()
        .get_template("report.html")
        .render(
            report=found,
            style=Markup(style),  # noqa: S704 - ours
            script=Markup(script),  # noqa: S704 - ours
            policy=policy,
            version=__version__,
        )
    )


def _asset(name: str) -> str:
    return (files("conformance.reports") / "templates" / name).read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        loader=PackageLoader("conformance.reports"),
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"icons": ICONS, "meanings": MEANINGS}
    environment.filters |= {"prose": format_prose, "kebab": lambda said: said.replace(" ", "-"), "lines": _lines}
    return environment


def _lines(text: str) -> Markup:
    """JSON that we wrote ourselves, and so in ASCII: its lines stay lines, and all of it is there."""
    return Markup.escape(text)


def _finalize(value: Any) -> Any:
    return sanitize(value) if isinstance(value, str) and not isinstance(value, Markup) else value
