"""JUnit XML and badges."""

import json
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from conformance.campaign.events import GUARANTEES
from conformance.campaign.tally import Tally
from conformance.judge.verdict import Finding
from conformance.reports.badge import draw_badge, format_endpoint, format_message
from conformance.reports.junit import format_junit
from tests.campaign.test_journal import began
from tests.campaign.test_tally import examined, judged

HOSTILE = "<script>]]>\x00\x1b[31m\ud800\ufffe&\"'"


def parsed(text):
    return ET.fromstring(text)  # noqa: S314 - ours


def hostile(said):
    events = [
        began(engine="<script>&'"),
        judged(0, "violates", "lost"),
        examined(0),
        judged(1, "error"),
        judged(2, "inconclusive"),
    ]
    events[1] = type(events[1])(0, "a", "d", "violates", said, findings=(Finding("lost", said),), guarantee=said)
    return Tally.of(events)


@given(st.text(st.characters(), max_size=30) | st.just(HOSTILE))
def test_junit_and_badge_are_well_formed_for_any_text(said):
    tally = hostile(said)
    suites = parsed(format_junit(tally).encode("utf-8", "surrogatepass"))
    (failed,) = suites.findall("testsuite/testcase[@name='a']/failure")
    assert failed.get("message").startswith("violates")
    assert parsed(draw_badge(tally)).tag.endswith("svg")
    assert json.loads(format_endpoint(tally))["message"] == "violates · 1 case"


def test_junit_has_guarantees_and_cases_and_doubt_is_no_pass():
    first, second = parsed(format_junit(hostile("x")))
    assert [test.get("name") for test in first] == list(GUARANTEES)
    assert (first.get("tests"), first.get("failures"), first.get("errors")) == ("7", "1", "6")
    assert (second.get("failures"), second.get("errors"), second.get("skipped")) == ("1", "1", "1")
    assert not parsed(format_junit(Tally.of([began(), judged(0)]))).findall("testsuite/testcase/*")


def test_a_badge_has_the_verdict_and_its_colour():
    assert json.loads(format_endpoint(Tally.of([began(), judged(0)]))) == {
        "schemaVersion": 1,
        "label": "failure transparency",
        "message": "conforms · 1 case",
        "color": "brightgreen",
    }
    assert format_message(Tally.of([began(), judged(0, "unsupported")])) == "unsupported"
