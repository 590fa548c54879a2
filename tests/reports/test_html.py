"""The HTML report: its content, its links, and that it depends on the results folder alone."""

import re
import shutil

import pytest

from conformance.campaign.events import GUARANTEES, GaveUp, Judged
from conformance.errors import Malformed, Unreadable
from conformance.generators import corpus
from conformance.reports.html import render, write_report
from conformance.reports.report import build_report
from tests.reports.folders import write_campaign, write_campaigns
from tests.reports.page import Page


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    return write_campaign(tmp_path_factory.mktemp("broken") / "results", "mutant:appended-on-replay")


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    return write_campaigns(tmp_path_factory.mktemp("several") / "results", "mutant:in-flight-kept", "reference")


def page(folder, *before):
    return Page(render(build_report(folder, before)))


def test_the_page_starts_with_the_verdict(broken, tmp_path):
    assert "mutant:appended-on-replay violates" in page(broken).text[:200]
    right = page(write_campaign(tmp_path / "right", names=None))
    assert f"reference conforms All that was seen of {len(corpus())} cases" in right.text
    assert "conformance certify reference --cases 0" in right.text


def test_every_link_within_the_page_has_a_target(broken, both):
    for folder in (broken, both):
        found = page(folder)
        ids = found.ids()
        assert len(ids) == len(set(ids))
        assert {link[1:] for link in found.links() if link.startswith("#")} <= set(ids)


def test_every_linked_case_file_exists(broken, both):
    for folder in (broken, both):
        for link in page(folder).links():
            if not link.startswith("#") and "cases/" in link:
                assert (folder / link).is_file()


def test_a_counterexample_lists_its_holds(tmp_path):
    names = ("misaligned-border-without-failure",)
    folder = write_campaign(tmp_path / "held", "mutant:overtakes-the-border", names=names)
    text = page(folder).text
    assert "Input and failures" in text
    assert "‖ z goes last in epoch 1" in text[: text.index("What happened")]


def test_a_broken_guarantee_links_to_its_counterexample(broken):
    found = page(broken)
    place = list(GUARANTEES).index("no duplicates")
    anchor = f"x-mutant-appended-on-replay-{place}"
    assert f"#{anchor}" in found.links()
    assert anchor in found.ids()
    assert f"conformance run {broken}/counterexamples/1.json mutant:appended-on-replay" in found.text
    assert "unexplained" in render(build_report(broken))


def test_outcomes_are_counted_separately(tmp_path):
    outcomes = ["error", "unsupported", "not exercised", "inconclusive", "violates"]

    def change(event):
        if not isinstance(event, Judged):
            return event
        came = outcomes.pop() if event.findings and outcomes[-1] == "violates" else outcomes.pop(0)
        return type(event)(event.index, event.id, event.digest, came, "because of something", findings=event.findings)

    found = build_report(write_campaign(tmp_path / "mixed", "mutant:appended-on-replay", change=change))
    counts = dict(found.columns[0].outcomes)
    assert counts == {
        "conforms": 0, "violates": 1, "inconclusive": 1, "not exercised": 1, "unsupported": 1, "error": 1
    }  # fmt: skip
    text = Page(render(found)).text
    for outcome in ("violates", "error", "unsupported", "not exercised", "inconclusive"):
        assert re.search(rf"{outcome} [a-z, -]*\d case", text)


def test_a_diagram_without_a_log_is_inferred_and_labelled_so(tmp_path):
    true = page(write_campaign(tmp_path / "true", "mutant:appended-on-replay"))
    inferred = page(write_campaign(tmp_path / "inferred", "mutant:appended-on-replay", logs=False))
    assert "as the engine logged it" in true.text
    assert "Inferred" not in true.text
    assert "Inferred, as the engine does not log what its tasks do" in inferred.text
    assert any(attributes.get("class") == "st in" for _, attributes in inferred.elements)
    assert "Recovery from a crash" in inferred.text
    assert "It gives no times" in true.text


def test_engines_are_compared_side_by_side(both):
    text = page(both).text
    assert "differ because an engine is wrong" in text
    assert "mutant:in-flight-kept" in text
    assert "reference conforms" in text


def test_every_case_has_a_section(both):
    found = page(both)
    for name in ("paper-observed-execution", "in-flight-kept", "empty-epochs"):
        assert f"c-{name}" in found.ids()


def test_a_counterexample_links_the_files_that_the_engine_left(both, tmp_path):
    single = write_campaign(tmp_path / "single", "mutant:in-flight-kept")
    links = {}
    for folder, prefix in ((single, ""), (both, "mutant-in-flight-kept/")):
        assert not any("kept/counterexample" in link for link in page(folder).links())
        kept = folder / prefix / "kept" / "counterexample-1"
        kept.mkdir(parents=True)
        links[prefix] = [link for link in page(folder).links() if "kept/counterexample" in link]
        kept.rmdir()
        kept.parent.rmdir()
    assert links == {prefix: [f"{prefix}kept/counterexample-1/"] for prefix in links}


def test_surviving_mutants_are_listed(broken):
    text = page(broken).text
    assert "convict 57 of 58 engines" in text
    assert re.search(r"too-early The snapshot lacks the last event of its epoch. survived", text)


def test_the_history_has_the_order_of_the_folders(tmp_path):
    old = write_campaign(tmp_path / "old", "reference", logs=False, date="2026-01-01")
    new = write_campaign(tmp_path / "new", "reference", logs=False, date="2026-02-02")
    text = page(new, old).text
    assert text.index("2026-01-01") < text.rindex("2026-02-02")
    assert "Recovery, median" in text
    assert "History" not in page(new).text


def test_the_same_folder_gives_the_same_bytes(broken, tmp_path):
    write_report(broken, tmp_path / "one.html")
    write_report(broken, tmp_path / "two.html")
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_an_unfinished_campaign_states_its_progress(tmp_path):
    folder = write_campaign(tmp_path / "half")
    journal = folder / "journal.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:3]))
    assert f"Not finished: 2 of {len(corpus())} cases so far." in page(folder).text


def test_a_campaign_without_judged_cases_is_inconclusive(both, tmp_path):
    folder = shutil.copytree(both, tmp_path / "begun")
    journal = folder / "reference" / "journal.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:1]))
    column = build_report(folder).columns[1]
    assert (column.verdict, {cell.verdict for cell in column.cells}) == ("inconclusive", {"inconclusive"})


def test_engines_with_the_same_coverage_share_a_bar(both):
    (chain,) = [each for each in build_report(both).coverage["Graphs"] if each.name == "a chain"]
    assert [each.engines for each in chain.bars] == ["mutant:in-flight-kept, reference"]


def test_an_engine_that_was_given_up_is_in_error(tmp_path):
    def change(event):
        return GaveUp("it is <gone>") if type(event).__name__ == "Measured" else event

    text = page(write_campaign(tmp_path / "gone", change=change)).text
    assert "The engine could not be run to the end: it is <gone>" in text


def test_larger_reports_have_brief_diagrams_or_none(broken, monkeypatch):
    whole = len(render(build_report(broken)))
    monkeypatch.setattr("conformance.reports.case_details.MAX_RUNS_WITH_TITLES", 0)
    brief = len(render(build_report(broken)))
    monkeypatch.setattr("conformance.reports.case_details.MAX_RUNS_WITH_DIAGRAMS", 0)
    monkeypatch.setattr("conformance.reports.case_details.MAX_RUNS_WITH_DETAILS", 0)
    assert len(render(build_report(broken))) < brief < whole


def test_the_page_fetches_nothing_and_allows_only_its_own_script(broken):
    found = page(broken)
    (policy,) = [a["content"] for _, a in found.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert not {attributes.get("src") for _, attributes in found.elements} - {None}
    assert not [link for link in found.links() if "//" in link]
    assert not [1 for _, attributes in found.elements if "style" in attributes]


def test_a_folder_without_results_is_refused(tmp_path):
    with pytest.raises(Unreadable, match="certify"):
        build_report(tmp_path)
    (tmp_path / "journal.jsonl").write_text('{"event": "ended"}\n')
    with pytest.raises(Unreadable, match="began"):
        build_report(tmp_path)
    (tmp_path / "engines.json").write_text('{"engines": ["reference", "mutant"]}')
    with pytest.raises(Unreadable, match="begun"):
        build_report(tmp_path)
    (tmp_path / "engines.json").unlink()
    (tmp_path / "journal.jsonl").write_text("{}\n")
    with pytest.raises(Malformed):
        build_report(tmp_path)
