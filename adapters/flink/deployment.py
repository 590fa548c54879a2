"""Deployment of a case in a Flink job: which operators it becomes, what they are called, where its sinks write."""

from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from attrs import frozen

from conformance import branches
from conformance.adapters.flink.control import ControlChannel
from conformance.adapters.flink.messages import GateEpochs
from conformance.case import Case, Task
from conformance.engine import RunRequest
from conformance.programs import Program


@frozen
class TaskSpec:
    """A task as an operator has it: its name, inputs, output and programs, and the gates at which it waits."""

    name: str
    inputs: tuple[str, ...]
    output: str
    programs: tuple[Program[Any], ...]
    gates: GateEpochs

    @property
    def initial(self) -> Any:
        """The initial state: that of the last program, because all programs before it are filters, without state."""
        return self.programs[-1].initial

    def __call__(self, state: Any, event: int | str) -> tuple[Any, Sequence[int | str]]:
        """Compute f(v, w), of one program or of a filter and the program behind it."""
        *filters, last = self.programs
        if any(not each(None, event)[1] for each in filters):
            return state, ()
        return last(state, event)


@frozen
class OperatorSpec:
    """One operator: a task, or all branches of a keyed sum, each with its filter."""

    name: str
    inputs: tuple[str, ...]
    filters: tuple[Task, ...]
    tasks: tuple[Task, ...]

    @property
    def outputs(self) -> tuple[str, ...]:
        """The streams that it makes and that other operators read."""
        return tuple(task.output for task in self.tasks)

    def task_spec(self, number: int, gates: Mapping[str, GateEpochs]) -> TaskSpec:
        """Return the task with that number; of a branch, its filter and its sum as one."""
        task = self.tasks[number]
        programs = tuple(each.program for each in (*self.filters[number : number + 1], task))
        return TaskSpec(task.name, self.inputs, task.output, programs, gates.get(task.name, frozenset()))


@frozen
class CaseDeployment:
    """A case in a job: its control channel, the streams that are observed, its gates and its operators."""

    channel: ControlChannel
    case: Case
    streams: frozenset[str]
    gates: Mapping[str, GateEpochs]
    operators: tuple[OperatorSpec, ...]

    @property
    def number(self) -> int:
        """Its number in the job."""
        return self.channel.case

    @property
    def tasks(self) -> frozenset[str]:
        """The tasks that report their progress: of a branch, its sum."""
        return frozenset(task.name for operator in self.operators for task in operator.tasks)

    def with_branches(self, names: Iterable[str]) -> set[str]:
        """Return these tasks, and the branches that may be in a subtask with one of them, and so wait with it."""
        wanted = set(names)
        together = [{task.name for task in operator.tasks} for operator in self.operators]
        return wanted.union(*(each for each in together if each & wanted))

    def tap(self, stream: str) -> str:
        """Return the stream that names the sink of this one: all output streams of an operator share a sink."""
        return next((each.outputs[0] for each in self.operators if stream in each.outputs), stream)

    def sink(self, stream: str) -> Path:
        """Return the folder of a stream's file sink."""
        return Path(self.channel.folder, "sinks", str(self.number), stream)

    def flink_name(self, operator: str) -> str:
        """Return what an operator is called in Flink."""
        return f"{self.number}/{operator}"


def deploy(
    channel: ControlChannel, request: RunRequest, gates: Mapping[str, GateEpochs], *, parallel: bool
) -> CaseDeployment:
    """Return the deployment of a case. Streams within an operator cannot be observed."""
    graph = request.case.graph
    keyed_sums = list(branches.find(graph)) if parallel else []
    internal = {task.output for each in keyed_sums for task in each.filters}
    by_first_task = {each.sums[0].name: each for each in keyed_sums}
    branch_names = {name for each in keyed_sums for name in each.names}
    operators = []
    for task in graph.in_order:
        if task.name in by_first_task:
            keyed_sum = by_first_task[task.name]
            operators.append(OperatorSpec(task.name, keyed_sum.inputs, keyed_sum.filters, keyed_sum.sums))
        elif task.name not in branch_names:
            operators.append(OperatorSpec(task.name, task.inputs, (), (task,)))
    return CaseDeployment(channel, request.case, request.streams - internal, gates, _producers_first(operators))


def _producers_first(operators: Sequence[OperatorSpec]) -> tuple[OperatorSpec, ...]:
    producers = {stream: number for number, operator in enumerate(operators) for stream in operator.outputs}
    needs = {
        number: {producers[stream] for stream in operator.inputs if stream in producers}
        for number, operator in enumerate(operators)
    }
    return tuple(operators[number] for number in TopologicalSorter(needs).static_order())
