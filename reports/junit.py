"""JUnit XML of a campaign, for continuous integration: a test for each guarantee, then one for each case."""

import re
from xml.etree import ElementTree as ET

from conformance.campaign.events import GUARANTEES, Guarantee, Judged
from conformance.campaign.tally import Tally
from conformance.reports.summary import describe_violation

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML document may hold, not even escaped."""


def format_junit(tally: Tally) -> str:
    """Format the text of a JUnit file."""
    name = tally.began.engine if tally.began else "engine"
    root = ET.Element("testsuites", name="dataflow-conformance")
    guarantees = _add_suite(root, f"{name}: guarantees")
    for guarantee in GUARANTEES:
        _add_guarantee(guarantees, name, tally, guarantee)
    cases = _add_suite(root, f"{name}: cases")
    for judged in tally.judged.values():
        _add_case(cases, name, tally, judged)
    for suite in (guarantees, cases):
        suite.set("tests", str(len(suite)))
        for kind in ("failure", "error", "skipped"):
            plural = kind if kind == "skipped" else f"{kind}s"
            suite.set(plural, str(len(suite.findall(f"testcase/{kind}"))))
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _add_suite(root: ET.Element, name: str) -> ET.Element:
    return ET.SubElement(root, "testsuite", name=_escape(name))


def _add_guarantee(suite: ET.Element, engine: str, tally: Tally, guarantee: Guarantee) -> None:
    test = ET.SubElement(suite, "testcase", classname=_escape(engine), name=guarantee)
    verdict = tally.guarantee_verdict(guarantee)
    if verdict == "violates":
        _add_result(test, "failure", "violates", describe_violation(tally, guarantee))
    elif verdict != "conforms":
        _add_result(test, "error", verdict, tally.why_inconclusive[1] if tally.why_inconclusive else "")


def _add_case(suite: ET.Element, engine: str, tally: Tally, judged: Judged) -> None:
    test = ET.SubElement(suite, "testcase", classname=_escape(f"{engine}.cases"), name=judged.id)
    outcome = tally.outcome(judged)
    if outcome == "violates":
        text = "\n".join(f"{finding.diagnosis}: {finding.because}" for finding in judged.findings)
        _add_result(test, "failure", f"violates; the strongest guarantee left is {judged.guarantee}", text)
    elif outcome == "error":
        _add_result(test, "error", "engine error", judged.because)
    elif outcome != "conforms":
        _add_result(test, "skipped", outcome, judged.because)


def _add_result(test: ET.Element, kind: str, message: str, text: str) -> None:
    ET.SubElement(test, kind, message=_escape(message)).text = _escape(text)


def _escape(text: str) -> str:
    """Replace characters that XML cannot hold by their number; ElementTree escapes the others."""
    return _NOT_XML.sub(lambda match: f"\\x{ord(match[0]):02x}", text)
