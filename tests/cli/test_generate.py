"""`conformance generate`, as a user types it."""

import json
from pathlib import Path

from conformance.codec import digest, read_case
from conformance.generators import SITUATIONS, cases, collect


def test_generate_writes_one_readable_file_a_case(conformance, tmp_path):
    folder = tmp_path / "new" / "cases"
    code, out, _ = conformance("generate", "--cases", 12, "--seed", 5, "--out", folder)
    assert (code, out) == (0, "")
    files = sorted(folder.iterdir())
    assert [digest(read_case(file)) for file in files] == [digest(case) for case in collect(cases(), number=12, seed=5)]
    assert read_case(files[0]).name.startswith("generated ")


def test_with_json_every_file_is_a_line(conformance, tmp_path):
    code, out, _ = conformance("generate", "--cases", 3, "--out", tmp_path / "cases", "--json")
    assert code == 0
    listed = [json.loads(line) for line in out.splitlines()]
    assert [digest(read_case(Path(line["file"]))) for line in listed] == [line["digest"] for line in listed]


def test_a_folder_that_is_not_empty_is_refused(conformance, tmp_path):
    (tmp_path / "mine").write_text("mine")
    code, _, err = conformance("generate", "--cases", 3, "--out", tmp_path)
    assert code == 2
    assert "the folder is not empty" in err
    assert [file.name for file in tmp_path.iterdir()] == ["mine"]
    assert conformance("generate", "--out", tmp_path / "mine" / "below")[0] == 2


def test_stats_name_every_situation_and_write_nothing(conformance, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = conformance("generate", "--cases", 40, "--stats")
    assert code == 0
    assert [line.split("%  ")[1] for line in out.splitlines()] == list(SITUATIONS)
    assert list(tmp_path.iterdir()) == []
    code, out, _ = conformance("generate", "--cases", 40, "--stats", "--json", "--deep")
    assert {json.loads(line)["of"] for line in out.splitlines()} == {40}


def test_generate_needs_an_output_or_stats(conformance):
    code, _, err = conformance("generate")
    assert code == 2
    assert "--out DIR" in err
