"""Witnesses: the proof of a "conforms", a failure-free trace whose out, replayed by the model, is what was seen."""

from conformance.case import Case, Epochs, Graph
from conformance.errors import ConformanceError
from conformance.judge.explain import Orders
from conformance.judge.sequences import joined
from conformance.judge.verdict import Conforms
from conformance.model.configuration import Rule, Step, Trace, initial
from conformance.model.snapshot import gce, observed
from conformance.model.trace import configurations
from conformance.observation import Observation, Observations
from conformance.programs import Event


class Unproven(ConformanceError):
    """A verdict that cannot prove itself: the judge explained what the model does not show. A bug of ours."""

    exit_code = 70


def trace_of(graph: Graph, orders: Orders, epochs: int) -> Trace:
    """Run the epochs one after the other, in each the tasks in topological order, each with its order of inputs."""
    steps = []
    for epoch in range(epochs):
        for task in graph.in_order:
            steps += [Step(Rule.EVENT, task.name, task.inputs[port]) for port in orders[task.name][epoch]]
            steps.append(Step(Rule.BORDER, task.name))
    return tuple(steps)


def prove(case: Case, seen: Observations, orders: Orders, epochs: int) -> Conforms:
    """
    Replay the witness and compare the model's out with every observation.

    Where streams commit one by one, each shows a prefix of out; where they commit together, all of it.
    """
    trace = trace_of(case.graph, orders, epochs)
    commits: dict[int, int] = {}
    shown: dict[int, dict[str, Epochs]] = {}
    for index, c in enumerate(configurations(initial(case), trace)):
        if (epoch := gce(c)) not in commits:
            commits[epoch] = index
            shown[epoch] = observed(c)
    at = []
    for index, observation in enumerate(seen.observations):
        epoch = max(map(len, observation.streams.values()), default=0)
        if epoch not in commits or not _shows(observation, shown[epoch], atomic=seen.atomic):
            raise Unproven(
                f"the witness does not show observation {index}; please report the case and the observations"
            )
        at.append(commits[epoch])
    return Conforms(trace, tuple(at), case, epochs)


def _shows(observation: Observation, out: dict[str, Epochs], *, atomic: bool) -> bool:
    return all(
        epochs == (out[stream] if atomic else out[stream][: len(epochs)])
        for stream, epochs in observation.streams.items()
    )


def prove_unaligned(case: Case, seen: Observations, orders: Orders, *, complete: bool) -> Conforms:
    """
    Replay the witness on the case whose epochs are one, and compare whole streams.

    Each observation must show of each stream a prefix of what the model wrote to it, and the last one, if the run was
    complete, all of it. Then go through it once more epoch by epoch: no event may be taken before its own epoch, and
    each task must show in each epoch what was observed of it.
    """
    merged = {source: (joined(epochs),) for source, epochs in case.inputs.items()}
    one = Case(case.graph, merged, name=case.name)
    steps: list[Step] = []
    for task in case.graph.in_order:
        steps += [Step(Rule.EVENT, task.name, task.inputs[port]) for order in orders[task.name] for port in order]
        if complete:
            steps.append(Step(Rule.BORDER, task.name))
    *_, end = configurations(initial(one), steps)
    written = {stream: tuple(w for _, w in log if w is not None) for stream, log in end.messages.items()}
    for index, observation in enumerate(seen.observations):
        last = complete and index == len(seen.observations) - 1
        for stream, epochs in observation.streams.items():
            shown = joined(epochs)
            if shown != (written[stream] if last else written[stream][: len(shown)]):
                raise Unproven(f"the witness does not show `{stream}` in observation {index}; please report both files")
    _check_bounds(case, seen, orders)
    at = tuple(len(steps) if any(observation.streams.values()) else 0 for observation in seen.observations)
    return Conforms(tuple(steps), at, one, max(map(len, seen.observations[-1].streams.values())))


def _check_bounds(case: Case, seen: Observations, orders: Orders) -> None:
    carried = {
        source: [(number, event) for number, epoch in enumerate(epochs, start=1) for event in epoch]
        for source, epochs in case.inputs.items()
    }
    last = seen.observations[-1].streams
    for task in case.graph.in_order:
        state, at = task.program.initial, [0] * len(task.inputs)
        written: list[tuple[int, Event]] = []
        for number, order in enumerate(orders[task.name], start=1):
            for port in order:
                epoch, event = carried[task.inputs[port]][at[port]]
                at[port] += 1
                if epoch > number:
                    raise Unproven(f"the witness lets `{task.name}` take an event of epoch {epoch} in epoch {number}")
                state, outputs = task.program(state, event)
                written += [(number, output) for output in outputs]
        carried[task.output] = written
        for number, shown in enumerate(last.get(task.output, ()), start=1):
            if tuple(event for epoch, event in written if epoch == number) != shown:
                raise Unproven(f"the witness does not show epoch {number} of `{task.output}`; please report both files")
