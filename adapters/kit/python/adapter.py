"""
The adapter: runs a case on the engine, injects its failures, and reports observations.

It judges nothing and repairs nothing. stdout is the protocol, one JSON object a line; print messages of your own
to stderr.
"""

import json
import sys

from engine import Crashed, Durable, TrivialEngine
from programs import PROGRAMS

DESCRIPTION = {
    "protocol": 1,
    "engine": {"name": "my-engine", "version": "0.1", "settings": {}},
    "epochs": "given",  # one epoch of the engine for each of the case; "own" if the engine places its borders itself
    "atomic": True,  # all streams are committed in one act
    "snapshots": "aligned",
    "failures": ["crash", "restart"],  # what the adapter can make happen; more: "kill:worker", "kill:coordinator"
    "programs": sorted(PROGRAMS),
}


def say(**answer):
    print(json.dumps(answer), flush=True)


class CaseRunner:
    """One case, from its start to its end, through all that happens to it."""

    def __init__(self, request):
        self.id = request["id"]
        self.case = request["case"]
        self.shown = request["streams"]
        self.failures = self.case.get("failures", [])
        self.fired = 0  # failures happen in their order, each once
        self.durable = Durable(self.case["graph"])

    def start(self):
        """Start the engine, or start it again: from what is durable, and from nothing else."""
        return TrivialEngine(self.case["graph"], self.case["inputs"], self.durable)

    def run(self):
        epochs = max(len(each) for each in self.case["inputs"].values())
        engine = self.start()
        while self.durable.epoch < epochs:
            try:
                engine.run_epoch(self.about_to)
            except Crashed as crash:
                self.happened(str(crash))
                engine = self.start()
            self.show()
            while self.restart_is_due():
                engine = self.start()
                self.happened(f"started again with {self.durable.epoch} epochs committed")
                self.show()
        say(id=self.id, end="completed")

    def about_to(self, task, epoch, event):
        """Crash here, if the case says so. (If the epoch has fewer events, at its border.)"""
        failure = self.next_failure("crash")
        is_here = failure and (failure["task"], failure["epoch"]) == (task, epoch)
        if is_here and event in (failure["event"], "border"):
            raise Crashed(f"{task} died in epoch {epoch}, at {event}")

    def restart_is_due(self):
        failure = self.next_failure("restart")
        return failure and failure["epoch"] <= self.durable.epoch

    def next_failure(self, kind):
        """The next failure of the case, if it is of this kind."""
        failure = self.failures[self.fired] if self.fired < len(self.failures) else None
        return failure if failure and failure["kind"] == kind else None

    def happened(self, evidence):
        say(id=self.id, fired=self.fired, evidence=evidence)
        self.fired += 1

    def show(self):
        """What can be seen now: the committed epochs of the streams that were asked for."""
        say(id=self.id, streams={name: self.durable.streams[name] for name in self.shown})


def main():
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "start":
            say(**DESCRIPTION)
        elif request["do"] == "run":
            CaseRunner(request).run()
        elif request["do"] == "stop":
            return


if __name__ == "__main__":
    main()
