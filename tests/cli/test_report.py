"""`conformance report`, and the report at the end of `certify`."""

import shutil

import pytest

from conformance.campaign import results


@pytest.fixture
def copy(certified, tmp_path):
    return shutil.copytree(certified, tmp_path / "copy")


def test_certify_leaves_a_report_and_report_writes_the_same_again(conformance, certified, copy):
    first = (copy / "index.html").read_bytes().replace(bytes(certified), bytes(copy))
    (copy / "index.html").unlink()
    code, out, _ = conformance("report", copy)
    assert (code, out) == (0, f"report: {copy}/index.html\n")
    assert (copy / "index.html").read_bytes() == first
    assert b"mutant:appended-on-replay" in first


def test_a_certificate_has_no_digest_of_a_report(conformance, copy):
    (copy / "index.html").write_text("another version wrote this")
    code, out, _ = conformance("verify", copy / "certificate.json")
    assert code == 0, out


def test_a_report_on_several_folders_shows_the_last_with_a_history(conformance, certified, copy, tmp_path):
    code, out, _ = conformance("report", certified, copy)
    assert (code, out) == (0, f"report: {copy}/history.html\n")
    assert "History" in (copy / "history.html").read_text()
    assert conformance("report", certified, copy, "--out", tmp_path / "elsewhere.html")[0] == 0
    assert (tmp_path / "elsewhere.html").stat().st_size > 10_000


def test_an_unreadable_or_unwritable_file_is_exit_2_with_a_hint(conformance, copy, tmp_path):
    code, _, err = conformance("report", tmp_path / "nowhere")
    assert code == 2
    assert "Give a folder that `conformance certify` made" in err
    code, _, err = conformance("report", copy, "--out", tmp_path / "no" / "such" / "folder.html")
    assert code == 2
    assert "Give another file with --out" in err
    assert conformance("report")[0] == 2


def test_the_results_count_without_a_report(conformance, copy, monkeypatch):
    monkeypatch.setattr("conformance.reports.folder.write_report", lambda *_: 1 / 0)
    code, out, err = conformance("certify", "--resume", "--out", copy)
    assert code == 1, "it violates, and that comes first"
    assert "The HTML report could not be written: ZeroDivisionError" in err
    assert f"conformance report {copy}" in err
    assert conformance("verify", copy / "certificate.json")[0] == 0
    assert "violates" in out


def test_an_unwritable_report_is_no_conforming_exit(conformance, tmp_path, monkeypatch):
    monkeypatch.setattr("conformance.reports.folder.REPORTS", ("no/such/folder.html",))
    code, _, err = conformance("certify", "reference", "--cases", "0", "--out", tmp_path / "out")
    assert code == 2
    assert "The results and the certificate are complete" in err
    assert results.Results(tmp_path / "out").begun
