"""
The overhead of a campaign: the quick profile, on an engine that sleeps.

The engine records how long it is busy. The rest of the wall time, from the command to the certificate, is overhead.
"""

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.adapters.reference import Reference
from conformance.campaign.session import CampaignConfig, certify
from conformance.engine import RunRequest
from conformance.observation import Observations
from conformance.reports.folder import finish

SPEEDS = {"as fast as Flink was (285 cases/min)": 60 / 285, "as fast as Spark was (720 cases/min)": 60 / 720}


class Sleeping(Reference):
    """The model, which sleeps before every answer, and records how long it was busy."""

    def run(self, requests: Sequence[RunRequest]) -> Iterator[Observations]:
        for request in requests:
            started = time.perf_counter()
            (seen,) = super().run([request])
            time.sleep(float(os.environ["SLEEP"]))
            with Path(os.environ["BUSY"]).open("a", encoding="utf-8") as file:
                file.write(f"{time.perf_counter() - started}\n")
            yield seen


def main() -> None:
    """Print the share of the overhead."""
    for speed, seconds in SPEEDS.items():
        with TemporaryDirectory() as folder:
            busy_file = Path(folder, "busy")
            os.environ.update(SLEEP=str(seconds), BUSY=str(busy_file))
            results = Path(folder, "results")
            started = time.perf_counter()
            events = sum(1 for _ in certify("python:benchmarks.campaign:Sleeping", CampaignConfig(), results))
            verdict = finish(results)["verdict"]
            wall = time.perf_counter() - started
            busy = sum(map(float, busy_file.read_text(encoding="utf-8").split()))
            print(
                f"campaign, an engine {speed}: {events} events in {wall:.1f} s, {verdict}; "
                f"overhead: {wall - busy:.1f} s, {(wall - busy) / wall:.1%} (at most 10 %)"
            )
