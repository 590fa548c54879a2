"""The logs of the model and of the mutants: what is drawn of them is what they did."""

from hypothesis import given

from conformance.adapters.mutants.correct import Plain
from conformance.adapters.reference import Reference
from conformance.engine import RunRequest
from conformance.generators import cases
from conformance.model.configuration import RECOVER, Rule, Step, initial
from conformance.model.snapshot import gce, observed
from conformance.model.trace import configurations


def runs(case):
    (reference,) = Reference([]).run([RunRequest(case)])
    return reference, Plain(RunRequest(case)).run()


def steps(log):
    for entry in log:
        if entry["do"] == "recover":
            yield RECOVER
        elif entry["do"] != "look":
            yield Step(Rule(entry["do"]), entry["task"], entry.get("stream", ""))


@given(cases())
def test_a_log_replays_as_an_execution_with_the_same_observations(case):
    for seen in runs(case):
        trace = tuple(steps(seen.log))
        after = list(configurations(initial(case), trace))
        looks, taken = [], 0
        for entry in seen.log:
            taken += entry["do"] != "look"
            if entry["do"] == "look":
                looks.append(observed(after[taken]))
            if entry["do"] == "recover":
                assert entry["epoch"] == gce(after[taken])
        assert looks == [dict(each.streams) for each in seen.observations]


@given(cases())
def test_a_log_has_the_messages_of_every_step(case):
    outputs = {task.name: task.output for task in case.graph.tasks}
    for seen in runs(case):
        messages = {(stream, number): event for stream, number, event in recorded(case)}
        for entry in seen.log:
            if entry["do"] == "event":
                assert messages[entry["stream"], entry["seq"]] == entry["value"]
            for number, event in entry.get("sends", ()):
                messages[outputs[entry["task"]], number] = event


def recorded(case):
    for source, epochs in case.inputs.items():
        log = [event for epoch in epochs for event in (*epoch, None)]
        yield from ((source, number, event) for number, event in enumerate(log))
