"""
Tiny engines in Python, for `python:tests.engines:NAME`: the reference model with one fault each.

Engines that break the protocol itself are in miniatures.py.
"""

import logging
import os
import subprocess
import tempfile
import time
from pathlib import Path

from attrs import evolve

from conformance.adapters.artifacts import discard
from conformance.adapters.reference import Reference
from conformance.engine import Capabilities, Description
from conformance.errors import EngineUnavailable
from conformance.observation import EngineInfo


def spoilt(seen, case):
    """Keep the last observation only, without the last event of every sink."""
    streams = dict(seen.observations[-1].streams)
    for sink in case.graph.sinks:
        epochs = list(streams[sink])
        if any(epochs):
            last = max(n for n, events in enumerate(epochs) if events)
            epochs[last] = epochs[last][:-1]
        streams[sink] = tuple(epochs)
    return evolve(seen, observations=(evolve(seen.observations[-1], streams=streams),))


class Right(Reference):
    """The reference model without a fault."""

    batch = 1
    capabilities = Capabilities()

    def __init__(self, settings):
        super().__init__(settings)
        self.runs = 0

    def start(self):
        return Description(EngineInfo(type(self).__name__.lower(), "1"), self.capabilities, batch=self.batch)

    def run(self, requests):
        for request, seen in zip(requests, super().run(requests), strict=True):
            self.runs += 1
            self.request, self.requests = request, requests
            yield self.change(seen)

    def change(self, seen):
        return seen


class Batched(Right):
    """Takes six at once."""

    batch = 6


class Littering(Batched):
    """Leaves files of every batch, some with hostile names. Cases with failures violate, all others conform."""

    def run(self, requests):
        seen = list(super().run(requests))
        folder = Path(tempfile.mkdtemp()) / "run"
        (folder / "log").mkdir(parents=True)
        (folder / "log" / "worker.log").write_text("said something\n")
        (folder / "sink\n;rm").write_text("committed")
        (folder / "elsewhere").symlink_to("/etc")
        os.mkfifo(folder / "pipe")
        logging.getLogger("conformance.adapters.littering").info("ran %d cases", len(requests))
        discard(folder, requests)
        yield from seen

    def change(self, seen):
        return spoilt(seen, self.request.case) if self.request.case.failures else seen


class Exhausted(Right):
    """Exits in its fourth run, and leaves a file in its temporary folder."""

    def change(self, seen):
        if self.runs == 4:
            Path(tempfile.gettempdir(), "heap.dump").write_text("what there was")
            os._exit(3)
        return seen


class Flaky(Right):
    """Loses something in every third run."""

    def change(self, seen):
        return spoilt(seen, self.request.case) if self.runs % 3 == 0 else seen


class Moody(Right):
    """Loses something in two runs of four, one after the other."""

    def change(self, seen):
        return spoilt(seen, self.request.case) if self.runs % 4 in {1, 2} else seen


class CrossTalk(Batched):
    """Loses something when it runs many graphs at once, and only then."""

    def change(self, seen):
        parts = {source.split("-")[0] for source in self.request.case.graph.sources}
        return spoilt(seen, self.request.case) if self.batch in {len(self.requests), len(parts)} else seen


class Slow(Right):
    """Does not finish a case with two failures unless its deadline is ten minutes or more."""

    def change(self, seen):
        late = len(self.request.case.failures) > 1 and self.request.seconds < 600
        return evolve(seen, observations=seen.observations[:1], end="stalled") if late else seen


class Stuck(Right):
    """Never finishes a case with two failures."""

    def change(self, seen):
        stuck = len(self.request.case.failures) > 1
        return evolve(seen, observations=seen.observations[:1], end="stalled") if stuck else seen


class Placed(Batched):
    """Runs cases with kills in another place than the others, and in a batch after the others."""

    def change(self, seen):
        place = "processes" if any(failure.kind == "kill" for failure in self.request.case.failures) else "threads"
        return evolve(seen, place=place)


class Unarmed(Right):
    """Makes no failure happen, though it says it can."""

    def change(self, seen):
        return evolve(seen, fired=())


class Calm(Right):
    """Says that it can make no failure happen."""

    capabilities = Capabilities(failures=())


class Raising(Right):
    """Raises in every tenth run."""

    def change(self, seen):
        if self.runs % 10 == 0:
            raise RuntimeError("out of luck")
        return seen


class Sleeping(Right):
    """Sleeps before every answer, for `SLEEP` seconds."""

    def change(self, seen):
        time.sleep(float(os.environ.get("SLEEP", "0.1")))
        return seen


class SlowToStart(Right):
    """Starts for `SLEEP` seconds, and leaves a file that says it does."""

    def start(self):
        Path("slow").touch()
        time.sleep(float(os.environ["SLEEP"]))
        return super().start()


class Remarking(Right):
    """Has a remark for the user, and says in its settings what it runs on."""

    def start(self):
        self.remarks = [f"runs on {os.environ.get('RUNS_ON', 'wheels')}\x1b[2J"]
        return evolve(super().start(), info=EngineInfo("remarking", "1", {"on": os.environ.get("RUNS_ON", "wheels")}))


class Noisy(Right):
    """Prints while it starts, from another process, too, as a JVM does."""

    def start(self):
        subprocess.run(["/bin/sh", "-c", "echo WARN on stdout; echo WARN on stderr >&2"], check=True)
        if "NOISY_FAILS" in os.environ:
            os._exit(1)
        return super().start()


class Ponderous(Right):
    """Takes a second and a half for all cases together, and ends none whose deadline is less than a minute."""

    batch = 200

    def start(self):
        time.sleep(0.5)
        return super().start()

    def run(self, requests):
        seen = list(super().run(requests))
        time.sleep(1.5)
        yield from seen

    def change(self, seen):
        return evolve(seen, observations=seen.observations[:1], end="stalled") if self.request.seconds < 60 else seen


class Turncoat(Right):
    """Claims atomic commits at its first start, and not any more at its second."""

    def start(self):
        self.again = Path("turncoat").exists()
        return evolve(super().start(), atomic=not self.again)

    def change(self, seen):
        if not self.again:
            Path("turncoat").touch()
            os._exit(1)
        return evolve(seen, atomic=False)


class Poisoned(Batched):
    """Exits at one case, with all cases of the same batch."""

    def run(self, requests):
        if any(request.case.name == "generated 3 of seed 0" for request in requests):
            os._exit(1)
        return iter(list(super().run(requests)))


class Once(Right):
    """Can be started only once."""

    def start(self):
        if Path("once").exists():
            raise EngineUnavailable("not again")
        Path("once").touch()
        return super().start()
