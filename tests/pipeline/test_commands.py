"""The command `conformance check --on`."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest

from conformance.case import Case, Graph, Task
from conformance.cli import main
from conformance.codec import digest, encode_case, encode_observations
from conformance.model.execution import run
from conformance.model.snapshot import observed
from conformance.observation import Observation, Observations
from conformance.programs import Sum

CASE = Case(Graph(("a",), (Task("t", ("a",), "x", Sum()),)), {"a": ((1, 2), (3,))})
SEEN = Observations(digest(CASE), (Observation(observed(run(CASE).end)),))


def conformance(capsys, *arguments):
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return left.value.code, captured.out, captured.err


@pytest.fixture
def files(tmp_path):
    """Write a case and observations as plain JSON."""
    (tmp_path / "case.json").write_text(json.dumps(encode_case(CASE)))
    (tmp_path / "seen.json").write_text(json.dumps(encode_observations(SEEN)))
    return tmp_path / "case.json", tmp_path / "seen.json"


def edited(path, **fields):
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def test_a_check_without_a_dataset_starts_no_spark(capsys, files):
    code, out, _ = conformance(capsys, "check", *files, "--on", "local[2]", "--json")
    assert code == 0
    assert json.loads(out)["verdict"] == "conforms"


@pytest.mark.parametrize("command", [["check"], ["run"]])
def test_other_commands_refuse_datasets(capsys, files, command):
    edited(files[0], inputs={"dataset": "inputs.parquet", "epochs": 2})
    code, _, err = conformance(capsys, *command, files[0], "reference" if command == ["run"] else files[1])
    assert code == 2
    assert "$.inputs.dataset: found a dataset, 'inputs.parquet'" in err
    assert "only `conformance check --on MASTER` reads datasets" in err


def test_observations_in_a_dataset_are_refused_without_on(capsys, files):
    edited(files[1], observations={"dataset": "seen.parquet", "number": 1, "streams": ["x"]})
    code, _, err = conformance(capsys, "check", *files)
    assert code == 2
    assert "only `conformance check --on MASTER` reads datasets" in err


@pytest.mark.parametrize("name", ["../inputs.parquet", "/etc/passwd", "a/b", "*.parquet", "", ".hidden", "a" * 300])
def test_a_dataset_outside_the_folder_of_its_file_is_refused(capsys, files, name):
    edited(files[0], inputs={"dataset": name, "epochs": 2})
    code, _, err = conformance(capsys, "check", *files, "--on", "local[1]")
    assert code == 2
    assert "expected the plain name of a Parquet file or folder beside this file" in err


@pytest.mark.parametrize("master", ["yarn", "local[0]", "local[x]", "spark://", "local-cluster[1,1]", "spark://a b:1"])
@pytest.mark.usefixtures("files")
def test_an_unknown_master_is_refused(capsys, files, master):
    edited(files[0], inputs={"dataset": "inputs.parquet", "epochs": 2})
    code, _, err = conformance(capsys, "check", *files, "--on", master)
    assert code == 2
    assert re.search(r"is no Spark master; give local\[N\]", err)


@pytest.mark.spark
def test_a_master_that_does_not_answer_is_unavailable(capsys, files):
    edited(files[0], inputs={"dataset": "inputs.parquet", "epochs": 2})
    code, _, err = conformance(capsys, "check", *files, "--on", "spark://127.0.0.1:1")
    assert code == 4
    assert "no Spark master answers at 127.0.0.1:1 (Connection refused); start one with" in err


@pytest.mark.spark
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.full)])
def test_an_interrupted_check_leaves_no_process_and_no_file(tmp_path, number):
    from conformance.pipeline.writer import write  # noqa: PLC0415 - without the extra there is no pyarrow

    files = write(tmp_path, CASE, SEEN)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [sys.executable, "-m", "conformance", "check", *map(str, files), "--on", "local[1]"]
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": root}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        while "reading" not in (line := process.stderr.readline()):
            assert line, "it ended before it read anything"
        sleep(1)
        process.send_signal(number)
        said = process.stderr.read()
    assert process.returncode == 128 + number, said
    assert "Traceback" not in said
    assert not list(temporary.iterdir())
    assert not _java(str(temporary))


def _java(folder):
    """Return the Java processes that were started for that folder."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if folder.encode() in each.read_bytes():
                found.append(each)
        except OSError:
            continue
    return found
