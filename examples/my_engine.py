"""
A complete engine in Python. Run it in this folder: conformance certify python:my_engine:MyEngine

It runs a graph epoch by epoch, and commits the output of an epoch together with the states of all tasks.
"""

from conformance.case import BORDER, Crash
from conformance.codec import digest
from conformance.engine import Capabilities, Description
from conformance.observation import EngineInfo, Fired, Observation, Observations


class MyEngine:
    def __init__(self, settings):
        self.settings = settings  # `python:…` has none; an entry point has those behind its name, `mine:fast,safe`

    def start(self):
        return Description(EngineInfo("mine", "1.0"), Capabilities(failures=["crash"], holds=False))

    def run(self, requests):
        for request in requests:
            yield observe(request)

    def stop(self):
        pass


def observe(request):
    """Run a case, inject its failures, and record what is committed: after every epoch, and after every failure."""
    case, failures, fired, seen = request.case, list(request.case.failures), [], []
    states = {task.name: task.program.initial for task in case.graph.tasks}
    committed = dict.fromkeys(case.graph.streams, ())
    for epoch in range(case.epochs):
        while (after := attempt(case, epoch, dict(states), failures)) is None:  # each attempt with the durable states
            fired.append(Fired(len(fired), len(seen), f"{failures.pop(0).task} died in epoch {epoch + 1}"))
            seen.append(Observation({stream: committed[stream] for stream in request.streams}))
        states, streams = after
        committed = {stream: (*epochs, streams[stream]) for stream, epochs in committed.items()}
        seen.append(Observation({stream: committed[stream] for stream in request.streams}))
    return Observations(digest(case), tuple(seen), EngineInfo("mine", "1.0"), fired=tuple(fired))


def attempt(case, epoch, states, failures):
    """Run one epoch; return the states at its end and the events of its streams, or None if a task has died."""
    streams = {source: epochs[epoch] for source, epochs in case.inputs.items()}
    for task in case.graph.in_order:
        events, out = [event for stream in task.inputs for event in streams[stream]], []
        for number, event in [*enumerate(events), (BORDER, None)]:
            if failures and dies(failures[0], task, epoch + 1, number):
                return None
            if number != BORDER:
                states[task.name], emitted = task.program(states[task.name], event)
                out += emitted
        streams[task.output] = tuple(out)
    return states, streams


def dies(crash: Crash, task, epoch, number):
    return (crash.task, crash.epoch) == (task.name, epoch) and number in (crash.event, BORDER)
