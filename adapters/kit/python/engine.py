"""
The trivial engine: replace it by yours.

It runs a graph epoch by epoch, in memory. What it has computed in an epoch is volatile until all tasks have passed the
border; then it is committed in one act, together with the state of every task. `Durable` is what survives a crash, and
nothing else does.
"""

from itertools import zip_longest

from programs import initial, step


class Crashed(Exception):
    """A task has died, and everything volatile with it."""


class Durable:
    """What a crash leaves: the committed epochs of every stream, and the state of every task at the last border."""

    def __init__(self, graph):
        self.streams = {name: [] for name in graph["sources"] + [task["output"] for task in graph["tasks"]]}
        self.states = {task["name"]: initial(task["program"]) for task in graph["tasks"]}
        self.epoch = 0

    def commit(self, streams, states):
        """One epoch, of all streams at once."""
        for name, events in streams.items():
            self.streams[name].append(events)
        self.states = states
        self.epoch += 1


class TrivialEngine:
    """The graph, started from what is durable. After a crash, make a new one."""

    def __init__(self, graph, inputs, durable):
        self.tasks = in_order(graph)
        self.inputs = inputs
        self.durable = durable
        self.states = dict(durable.states)  # volatile

    def run_epoch(self, about_to):
        """The next epoch. `about_to(task, epoch, event)` is asked before every step, and may raise `Crashed`."""
        epoch = self.durable.epoch + 1
        streams = {source: epochs[epoch - 1] for source, epochs in self.inputs.items()}
        for task in self.tasks:
            output = []
            for number, event in enumerate(taken_in_turn([streams[name] for name in task["inputs"]])):
                about_to(task["name"], epoch, number)
                self.states[task["name"]], emitted = step(task["program"], self.states[task["name"]], event)
                output += emitted
            about_to(task["name"], epoch, "border")
            streams[task["output"]] = output
        self.durable.commit(streams, dict(self.states))


def taken_in_turn(inputs):
    """The events of several inputs, one of each after the other; any order would do that keeps each input's own."""
    nothing = object()
    return [event for turn in zip_longest(*inputs, fillvalue=nothing) for event in turn if event is not nothing]


def in_order(graph):
    """The tasks, each behind those that it reads from."""
    ready, waiting, ordered = set(graph["sources"]), list(graph["tasks"]), []
    while waiting:
        task = next(task for task in waiting if ready.issuperset(task["inputs"]))
        waiting.remove(task)
        ordered.append(task)
        ready.add(task["output"])
    return ordered
