"""
The report as one HTML file: it needs no network and no other file, and can be read without scripts.

Text that an engine or a file supplied stays text. Jinja passes every expression of the templates through `_finalize`,
which sanitizes it, and then escapes it. As a second line of defence, the page's content security policy allows only its
own script and stylesheet, by their hashes.
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
from conformance.reports.report import Report, build_report
from conformance.reports.sanitize import sanitize


def write_report(folder: Path, out: Path, earlier: Sequence[Path] = ()) -> None:
    """Write the report on a results folder, with a history if there are earlier results folders."""
    text = render(build_report(folder, earlier))
    try:
        write_text(out, text)
    except OSError as error:
        raise Unwritable(str(out), error.strerror or str(error), "Give another file with --out.") from None


def render(report: Report) -> str:
    """Fill the templates."""
    style, script = _asset("style.css"), _asset("script.js")
    policy = f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'"
    return (
        _environment()
        .get_template("report.html")
        .render(
            report=report,
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
    environment.filters |= {"prose": format_prose, "kebab": lambda text: text.replace(" ", "-"), "lines": _lines}
    return environment


def _lines(text: str) -> Markup:
    """Escape JSON without sanitizing it, so that it keeps its line breaks and length. Our encoder wrote it in ASCII."""
    return Markup.escape(text)


def _finalize(value: Any) -> Any:
    return sanitize(value) if isinstance(value, str) and not isinstance(value, Markup) else value
