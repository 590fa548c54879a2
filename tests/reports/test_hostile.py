"""Text that an engine or a file supplied never becomes markup."""

import json
import unicodedata
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.campaign import events
from conformance.campaign.plan import Plan
from conformance.campaign.results import Results
from conformance.codec import digest
from conformance.engine import Capabilities, Description
from conformance.judge.verdict import Finding
from conformance.observation import EngineInfo, Fired, Observations
from conformance.reports.html import render
from conformance.reports.report import build_report
from tests.campaign.test_journal import began
from tests.reports.folders import run
from tests.reports.page import Page

HOSTILE = [
    "<script>window.hacked = 1</script>",
    "</script><xss>",
    "</title></style></pre></textarea><xss onload=hacked>",
    "\"><xss a='",
    "'\"`><img src=x onerror=hacked>",
    "javascript:hacked",
    "{{ 7 * 7 }}{% include 'x' %}",
    "]]><!--<xss>--><![CDATA[",
    "&lt;xss&gt;&#60;xss&#62;",
    "\x00\x07\x1b[31m\x7f\x9b\r\n\t",
    "\u202eright to left\u2066\u200f\u061c",
    "\ufeff\u2028\u2029\ufffe",
    "<xss>" * 200_000,
    "`<xss>` and `code`",
]
TEXTS = st.sampled_from(HOSTILE) | st.text(st.characters(codec="utf-8"), max_size=40)
SHORT = TEXTS.map(lambda text: "".join(text[:64]))

OURS = """
    html head meta title style body a svg defs marker pattern path header h1 h2 h3 h4 div span p dl dt dd br pre code
    button nav ul li main table caption thead tbody tr th td section figure figcaption g text tspan rect details
    summary form label input select option output footer script
"""


def write_hostile_campaign(folder, texts, values):
    """Write a campaign in which every text field is hostile."""
    results = Results(folder)
    results.make()
    first = next(iter(Plan(generated=0)))
    case = evolve(first.case, name=(texts() or "x")[:200])
    case = evolve(case, inputs={source: ((values(), 1, values()),) * case.epochs for source in case.inputs})
    info = EngineInfo(texts(), texts(), {texts(): texts(), "deep": [{texts(): texts()}]})
    seen = run("mutant:appended-on-replay", case)
    log = (*seen.log, {"do": texts(), "task": texts()}, {"do": "event", "task": "first", "stream": texts()}, texts())
    seen = evolve(seen, engine=info, log=log, end="error", message=texts())
    seen = evolve(seen, fired=tuple(Fired(each.failure, each.before, texts(), each.t) for each in seen.fired))
    results.save(first.id, case, seen)
    results.save_counterexample(1, case, seen)
    finding = Finding("duplicated", texts(), 0, texts(), 1, 0, (values(),), (values(),))
    known = Finding("lost", texts(), 0, "three", 1, 0, (values(),), (values(),))
    size = events.CaseSize(1, 1, 1, 1)
    description = Description(info, Capabilities(failures=("crash",)))
    word = "".join(c for c in texts()[:60] if c.isprintable()) or "x"
    journal = [
        began(engine=word, description=description, cases=0, suite=texts(), hypothesis=texts(), python=texts(),
              system=texts(), machine=texts(), date=texts()),
        events.Judged(0, first.id, digest(case), "violates", texts(), findings=(finding, known), guarantee=texts(),
                      place=texts()),
        events.Examined(0, events.FailureRate(1, 1), "violates", "conforms"),
        events.Shrunk("no duplicates", 0, texts(), "counterexamples/1.json", digest(case), events.FailureRate(1, 1),
                      sinks_only=False, before=size, after=size, runs=1, findings=(finding, known)),
        events.GaveUp(texts()),
        events.Measured(1, 1, (texts(),)),
        events.CampaignEnded(),
    ]  # fmt: skip
    with results.journal() as written:
        for event in journal:
            written.write(event)


def check(text):
    found = Page(text)
    assert found.tags <= set(OURS.split())
    assert sum(tag == "script" for tag, _ in found.elements) == 1
    for _, attributes in found.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "style" or not name.isascii()]
        assert not (attributes.get("href") or "").startswith(("javascript", "data", "//", "http"))
    strange = {c for c in text if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}} - {"\n"}
    assert not strange
    assert len(text) < 2_000_000
    text.encode("utf-8")


@pytest.mark.full
@settings(max_examples=40)
@given(st.data())
def test_hostile_text_stays_text(data):
    with TemporaryDirectory() as folder:
        write_hostile_campaign(Path(folder) / "x", lambda: data.draw(TEXTS), lambda: data.draw(SHORT))
        check(render(build_report(Path(folder) / "x")))


def test_each_hostile_text_in_all_fields_stays_text(tmp_path):
    for number, text in enumerate(HOSTILE):
        write_hostile_campaign(tmp_path / str(number), lambda text=text: text, lambda text=text: text[:64])
        check(render(build_report(tmp_path / str(number))))


def test_a_malformed_observations_file_is_not_shown(tmp_path):
    write_hostile_campaign(tmp_path / "x", lambda: "x", lambda: "x")
    (place,) = (tmp_path / "x" / "observations").iterdir()
    spoilt = json.loads(place.read_text()) | {"observations": "<script>"}
    place.write_text(json.dumps(spoilt))
    check(render(build_report(tmp_path / "x")))
    assert Observations("", ()).log == ()
