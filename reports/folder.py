"""What stands in a campaign's folder when it has ended, made from its journal: anybody can make it again."""

from pathlib import Path
from typing import Any

from attrs import frozen

from conformance.campaign.certificate import certificate, written
from conformance.campaign.journal import read_events
from conformance.campaign.results import CERTIFICATE, JOURNAL, REPORTS, Results
from conformance.campaign.tally import Tally
from conformance.codec import write_text
from conformance.errors import ConformanceError
from conformance.reports import badge
from conformance.reports.html import write_report
from conformance.reports.junit import junit

OUR_BUG = 70


def finish(folder: Path) -> dict[str, Any]:
    """JUnit, badges, and last the certificate, which vouches for all the rest."""
    Results(folder).tidy()
    events = read_events(folder / JOURNAL)
    tally = Tally.of(events)
    write_text(folder / "junit.xml", junit(tally))
    write_text(folder / "badge.json", badge.endpoint(tally))
    write_text(folder / "badge.svg", badge.svg(tally))
    certified = certificate(events, Results(folder))
    write_text(folder / CERTIFICATE, written(certified))
    return certified


@frozen
class NoReport:
    """Why there is none, and with which code to exit."""

    because: str
    exit_code: int


def illustrate(top: Path) -> Path | NoReport:
    """
    The HTML report, on one campaign or on several, and where it is.

    Results count without it, so whatever goes wrong here is told and not raised.
    """
    try:
        write_report(top, top / REPORTS[0])
    except ConformanceError as error:
        return NoReport(str(error), error.exit_code)
    except Exception as error:  # noqa: BLE001 - hours of results are not to end in a traceback
        return NoReport(f"{type(error).__name__}: {error}", OUR_BUG)
    return top / REPORTS[0]
