"""Campaigns that are killed at any moment and resumed."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.campaign

KILLS = 50


def certify(out, *more):
    command = [sys.executable, "-m", "conformance", "certify", "--cases", "12", "--out", str(out), "--resume", *more]
    command += ["--shrink-runs", "40"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(out, *more):
    process = certify(out, *more)
    _, err = process.communicate(timeout=120)
    assert process.returncode in {0, 1}, err
    return process.returncode


def content(folder):
    """Return every file but the logs. Commands in the report name the folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes().replace(bytes(folder), b"folder")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "logs" not in path.parts
    }


def orphans(tag):
    """Return the processes that were started for this test and still run."""
    return [p for p in psutil.process_iter(["cmdline"]) if any(tag in part for part in p.info["cmdline"] or ())]


@pytest.mark.full
@pytest.mark.parametrize("engine", ["reference", "mutant:restored-for-one-reader", "python:tests.engines:Batched"])
def test_a_killed_campaign_resumes_to_the_same_certificate(tmp_path, engine):
    whole = tmp_path / "whole"
    began = time.monotonic()
    code = finished(whole, engine)
    lasted = time.monotonic() - began
    chance = random.Random(engine)
    kills = 0
    for attempt in range(1000):
        out = tmp_path / f"killed-{attempt}"
        while True:
            process = certify(out, engine)
            # A campaign that is nearly done ends before most of these timeouts.
            try:
                _, err = process.communicate(timeout=chance.uniform(0.2, lasted))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.communicate()
                kills += 1
                continue
            assert process.returncode == code, err
            break
        assert content(out) == content(whole)
        ids = Counter(json.loads(line).get("index") for line in judged(out))
        assert set(ids.values()) == {1}, "no case was run twice"
        if kills >= KILLS // 3 + 1:
            break
    assert kills >= KILLS // 3 + 1
    # The supervisors of the engines need a moment to notice that their parent is gone.
    deadline = time.monotonic() + 10
    while orphans(str(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert orphans(str(tmp_path)) == []


def descendants(process):
    return psutil.Process(process.pid).children(recursive=True)


def judged(folder):
    return [line for line in (folder / "journal.jsonl").read_text().splitlines() if '"event": "judged"' in line]


def test_ctrl_c_cleans_up_and_says_how_to_resume(tmp_path):
    out = tmp_path / "out"
    environment = {**os.environ, "SLEEP": "3600"}
    command = [sys.executable, "-m", "conformance", "certify", "python:tests.engines:Sleeping", "--out", str(out)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True)
    while not (out / "journal.jsonl").exists() or "cases" not in process.stderr.readline():
        assert process.poll() is None
    while not any("conformance.adapters.serve" in " ".join(each.cmdline()) for each in descendants(process)):
        time.sleep(0.05)
    children = descendants(process)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=5)
    assert process.returncode == 130
    assert f"conformance certify --resume --out {out}" in err
    _, alive = psutil.wait_procs(children, timeout=5)
    assert alive == []
    assert not list(Path(out / "cases").glob(".*.part"))
