"""The files that a finished campaign leaves in its results folder, all made from its journal."""

from pathlib import Path
from typing import Any

from attrs import frozen

from conformance.campaign.certificate import certificate, format_certificate
from conformance.campaign.journal import read_events
from conformance.campaign.results import CERTIFICATE, JOURNAL, REPORTS, Results
from conformance.campaign.tally import Tally
from conformance.codec import write_text
from conformance.errors import ConformanceError
from conformance.reports.badge import draw_badge, format_endpoint
from conformance.reports.html import write_report
from conformance.reports.junit import format_junit

INTERNAL_ERROR = 70
"""The exit code for a bug of this program (EX_SOFTWARE)."""


def finish(folder: Path) -> dict[str, Any]:
    """Write JUnit XML and badges, and last the certificate, which has the digests of the results and of these files."""
    Results(folder).tidy()
    events = read_events(folder / JOURNAL)
    tally = Tally.of(events)
    write_text(folder / "junit.xml", format_junit(tally))
    write_text(folder / "badge.json", format_endpoint(tally))
    write_text(folder / "badge.svg", draw_badge(tally))
    certified = certificate(events, Results(folder))
    write_text(folder / CERTIFICATE, format_certificate(certified))
    return certified


@frozen
class ReportFailure:
    """Why no report was written, and the exit code."""

    because: str
    exit_code: int


def try_write_report(top: Path) -> Path | ReportFailure:
    """
    Write the HTML report on one campaign or several, and return its path.

    The results are valid without it, so an error is returned and not raised.
    """
    try:
        write_report(top, top / REPORTS[0])
    except ConformanceError as error:
        return ReportFailure(str(error), error.exit_code)
    except Exception as error:  # noqa: BLE001 - a traceback must not hide hours of results
        return ReportFailure(f"{type(error).__name__}: {error}", INTERNAL_ERROR)
    return top / REPORTS[0]
