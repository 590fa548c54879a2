"""A campaign for continuous integration: the guarantees as tests, then the cases."""

import re
from xml.etree import ElementTree as ET

from conformance.campaign.events import GUARANTEES, Guarantee, Judged
from conformance.campaign.tally import Tally
from conformance.reports.summary import failure

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML document may hold, not even escaped."""


def junit(tally: Tally) -> str:
    """The text of a JUnit file."""
    name = tally.began.engine if tally.began else "engine"
    root = ET.Element("testsuites", name="dataflow-conformance")
    guarantees = _suite(root, f"{name}: guarantees")
    for guarantee in GUARANTEES:
        _promise(guarantees, name, tally, guarantee)
    cases = _suite(root, f"{name}: cases")
    for judged in tally.judged.values():
        _case(cases, name, tally, judged)
    for suite in (guarantees, cases):
        suite.set("tests", str(len(suite)))
        for kind in ("failure", "error", "skipped"):
            plural = kind if kind == "skipped" else f"{kind}s"
            suite.set(plural, str(len(suite.findall(f"testcase/{kind}"))))
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(root: ET.Element, name: str) -> ET.Element:
    return ET.SubElement(root, "testsuite", name=_text(name))


def _promise(suite: ET.Element, engine: str, tally: Tally, guarantee: Guarantee) -> None:
    test = ET.SubElement(suite, "testcase", classname=_text(engine), name=guarantee)
    verdict = tally.guarantee_verdict(guarantee)
    if verdict == "violates":
        _result(test, "failure", "violates", failure(tally, guarantee))
    elif verdict != "conforms":
        _result(test, "error", verdict, tally.why_unknown[1] if tally.why_unknown else "")


def _case(suite: ET.Element, engine: str, tally: Tally, judged: Judged) -> None:
    test = ET.SubElement(suite, "testcase", classname=_text(f"{engine}.cases"), name=judged.id)
    outcome = tally.outcome(judged)
    if outcome == "violates":
        said = "\n".join(f"{finding.diagnosis}: {finding.because}" for finding in judged.findings)
        _result(test, "failure", f"violates; the strongest guarantee left is {judged.guarantee}", said)
    elif outcome == "error":
        _result(test, "error", "engine error", judged.because)
    elif outcome != "conforms":
        _result(test, "skipped", outcome, judged.because)


def _result(test: ET.Element, kind: str, message: str, said: str) -> None:
    ET.SubElement(test, kind, message=_text(message)).text = _text(said)


def _text(said: str) -> str:
    """What an engine said, as far as XML can hold it; the rest is shown by its number."""
    return _NOT_XML.sub(lambda found: f"\\x{ord(found[0]):02x}", said)
