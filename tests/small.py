"""Small cases and traces for the model's own properties. The real generators are in generators/."""

from hypothesis import strategies as st

from conformance.case import Case, Crash, Graph, Kill, Restart, Task
from conformance.model.configuration import RECOVER, Configuration, Trace, initial
from conformance.model.rules import ready, successor
from conformance.programs import (
    Average,
    Batch,
    Count,
    Digest,
    Distinct,
    Filter,
    KeyedSum,
    Map,
    Repeat,
    Sum,
)

PROGRAMS = (
    Digest(),
    Sum(),
    Count(),
    Map(3, 1),
    Filter(2, 0),
    Repeat(2),
    Repeat(0),
    Distinct(),
    Batch(2),
    Average(),
    KeyedSum(2),
)

events = st.integers(0, 5) | st.just("reset")


@st.composite
def graphs(draw, *, most_tasks=4, most_sources=3, programs=PROGRAMS, most_inputs=3):
    """Shrinks towards one source and one digest."""
    sources = [f"s{number}" for number in range(draw(st.integers(1, most_sources)))]
    streams = list(sources)
    unread = set(sources)
    tasks = []
    for number in range(draw(st.integers(1, most_tasks))):
        inputs = draw(st.lists(st.sampled_from(streams), min_size=1, max_size=most_inputs, unique=True))
        tasks.append(Task(f"t{number}", tuple(inputs), f"o{number}", draw(st.sampled_from(programs))))
        unread -= set(inputs)
        streams.append(f"o{number}")
    if unread:
        rest = tuple(sorted(unread))[:most_inputs]
        tasks.append(Task("rest", rest, "o", draw(st.sampled_from(programs))))
        unread -= set(rest)
    return Graph(tuple(source for source in sources if source not in unread), tuple(tasks))


@st.composite
def cases(draw, *, most_epochs=3, most_events=3, graph=graphs(), failures=False):  # noqa: B008 - strategies are values
    """Shrinks towards one empty epoch and no failure."""
    drawn = draw(graph)
    epochs = draw(st.integers(1, most_epochs))
    inputs = {
        source: tuple(tuple(draw(st.lists(events, max_size=most_events))) for _ in range(epochs))
        for source in drawn.sources
    }
    names = st.sampled_from([task.name for task in drawn.tasks])
    numbers = st.integers(1, epochs)
    kinds = st.one_of(
        st.builds(Crash, names, numbers, st.integers(0, 3) | st.just("border")),
        st.builds(Kill, st.just("worker"), numbers, st.sampled_from([None, "snapshot", "commit", "recovery"])),
        st.builds(Restart, numbers),
    )
    return Case(drawn, inputs, tuple(draw(st.lists(kinds, max_size=3))) if failures else ())


def enabled(c: Configuration, *, failing: bool):
    """Every step that the rules allow, in a fixed order; with `failing`, F-Fail of every task too."""
    for name, processor in c.dataflow.processors.items():
        yield from ready(c, name)
        if failing:
            yield processor.fail
    if c.failed:
        yield RECOVER


@st.composite
def traces(draw, case: Case, *, most_failures=2, most_steps=40) -> Trace:
    """
    A valid trace from the case's initial configuration, of any length: Hypothesis chooses every step.

    Shrinks towards short traces without failures.
    """
    c = initial(case)
    failures = most_failures
    steps = []
    for _ in range(draw(st.integers(0, most_steps))):
        choices = list(enabled(c, failing=failures > 0))
        if not choices:
            break
        step = draw(st.sampled_from(choices))
        if step.rule.value == "fail":
            failures -= 1
        c = successor(c, step)
        assert c is not None
        steps.append(step)
    return tuple(steps)


@st.composite
def runs(draw, **options):
    """A case and a valid trace of it."""
    case = draw(cases(most_epochs=2, most_events=2, graph=graphs(most_tasks=3, most_sources=2)))
    return case, draw(traces(case, **options))
