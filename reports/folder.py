"""What stands in a campaign's folder when it has ended, made from its journal: anybody can make it again."""

from pathlib import Path
from typing import Any

from conformance.campaign.certificate import certificate, written
from conformance.campaign.journal import read_events
from conformance.campaign.results import CERTIFICATE, JOURNAL, Results
from conformance.campaign.tally import Tally
from conformance.codec import write_text
from reports import badge
from reports.junit import junit


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
