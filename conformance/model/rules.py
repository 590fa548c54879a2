"""
The seven rules.

I-Event, I-Border and F-Fail are local: a task's state and what it would do to the streams. S-Step carries a local step
into the whole configuration, if its actions apply. F-Recover is global.

S-AbsX and S-AbsP forget a step's label: `labelled_successor` takes the step with it, `successor` without.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from attrs import frozen

from conformance.model.configuration import (
    BD,
    RECOVER,
    Configuration,
    Data,
    Log,
    Numbers,
    Processor,
    Rule,
    State,
    Step,
)
from conformance.model.snapshot import lcs

_configuration = tuple.__new__  # what Configuration(...) ends in; the detour would cost a twentieth of a step

PRODUCE = True
CONSUME = False

Action: TypeAlias = tuple[bool, str, Data]
"""+s d (PRODUCE) or -s d (CONSUME)."""

Actions: TypeAlias = Sequence[Action]

LocalStep: TypeAlias = tuple[Actions, State]
"""Pi_p |- Sigma_p -- X --> Sigma'_p: X and Sigma'_p."""


@frozen
class Label:
    """(p, N_p, X): what S-Step writes on its arrow."""

    task: str
    numbers: Numbers
    actions: Actions


def apply(
    actions: Sequence[Action], numbers: Numbers, messages: Mapping[str, Log[Data]]
) -> tuple[Numbers, Mapping[str, Log[Data]]] | None:
    """
    X(N_p, M), from left to right; None where it is undefined, and then nothing has changed.

        (+s d)(N_p, M) = (N_p[s := N_p(s) + 1], M + {N_p(s) s d})
        (-s d)(N_p, M) = (N_p[s := N_p(s) + 1], M)   if N_p(s) s d is in M
    """
    after = dict(numbers)
    streams = dict(messages)
    for produce, stream, data in actions:
        n = after[stream]
        log = streams[stream]
        if produce:
            if n != log.length:
                raise ValueError(f"message {n} of {stream} does not follow {len(log)} others")
            streams[stream] = log.append(data)
        elif n >= log.length or log.items[n] != data:
            return None
        after[stream] = n + 1
    return after, streams


def event(task: Processor, state: State, stream: str, data: Data) -> LocalStep | None:
    """
    I-Event: take one event of the current epoch from one input, and emit what f says.

        f(v, w) = v', [W'_i]
        <a, <e, v>>  -- [-S_j <e, EV w>] ++ [+o <e, EV W'_i>]_i -->  <a, <e, v'>>

    `data` is what the stream offers: any message would do for the rule, only this one for S-Step.
    """
    archive, volatile = state
    if volatile is None:
        return None
    e, w = data
    if w is BD or e != volatile[0]:
        return None
    value, outputs = task.function(volatile[1], w)
    actions = [(CONSUME, stream, data)]
    for output in outputs:
        actions.append((PRODUCE, task.output, (e, output)))  # noqa: PERF401 - a comprehension costs a frame a step
    return actions, (archive, (e, value))


def border(task: Processor, state: State) -> LocalStep | None:
    """
    I-Border: once every input has reached the border of epoch e, snapshot and move on.

        <a, <e, v>>  -- [-S_i <e, BD>]_i ++ [+o <e, BD>] -->  <a[e := v], <e + 1, v>>

    An input still short of its border makes the consumption undefined: that is how alignment blocks.
    """
    archive, volatile = state
    if volatile is None:
        return None
    e, value = volatile
    data = (e, BD)
    actions = [(CONSUME, stream, data) for stream in task.inputs]
    actions.append((PRODUCE, task.output, data))
    return actions, (archive.append(value), (e + 1, value))


def fail(state: State) -> LocalStep:
    """
    F-Fail: a task loses its volatile state, at any time, even if it has none.

        <a, sigma_V>  -- [] -->  <a, fl>
    """
    archive, _ = state
    return [], (archive, None)


def recover(c: Configuration) -> Configuration | None:
    """
    F-Recover: if some task has failed, everything goes back to the latest common snapshot.

        <a, fl> in Sigma
        c  =>  lcs(c)
    """
    return lcs(c) if c.failed else None


def local(c: Configuration, step: Step) -> LocalStep | None:
    """Find the local step behind a step of a trace, with the message its stream offers; None if it is not enabled."""
    name = step.task
    task = c.dataflow.processors[name]
    state = c.states[name]
    rule = step.rule
    if rule is Rule.EVENT:
        stream = step.stream
        n = c.numbers[name][stream]
        log = c.messages[stream]
        return event(task, state, stream, log.items[n]) if n < log.length else None
    return border(task, state) if rule is Rule.BORDER else fail(state)


def labelled_successor(c: Configuration, step: Step) -> tuple[Actions, Configuration] | None:
    """
    S-Step: a local step whose actions apply.

        Pi_p |- Sigma_p -- X --> Sigma'_p      X(N_p, M) = (N'_p, M')
        <Pi, Sigma, N, M, D>  =(p, N_p, X)=>  <Pi, Sigma[p := Sigma'_p], N[p := N'_p], M', D>
    """
    taken = local(c, step)
    if taken is None:
        return None
    actions, state = taken
    name = step.task
    dataflow, states, numbers, messages = c
    applied = apply(actions, numbers[name], messages)
    if applied is None:
        return None
    after = (dataflow, {**states, name: state}, {**numbers, name: applied[0]}, applied[1])
    return actions, _configuration(Configuration, after)


def successor(c: Configuration, step: Step) -> Configuration | None:
    """c => c': the step without its label (S-AbsX, S-AbsP), or None where it is not enabled."""
    if step is RECOVER:
        return recover(c)
    taken = labelled_successor(c, step)
    return None if taken is None else taken[1]


def ready(c: Configuration, name: str) -> tuple[Step, ...]:
    """
    List the I-Event and I-Border steps of one task that are enabled, in the order of its inputs.

    Says without computing f what `successor` says by computing it; the tests hold the two together.
    """
    volatile = c.states[name][1]
    if volatile is None:
        return ()
    epoch = volatile[0]
    task = c.dataflow.processors[name]
    numbers = c.numbers[name]
    messages = c.messages
    aligned = True
    steps: tuple[Step, ...] = ()
    for step in task.events:
        stream = step.stream
        log = messages[stream]
        n = numbers[stream]
        if n >= log.length:
            aligned = False
        else:
            e, w = log.items[n]
            if w is not BD:
                aligned = False
                if e == epoch:
                    steps += (step,)
    return (task.border,) if aligned else steps
