"""
The speed of the model.

The figures are the steps per second of random executions, whether the cost of a step grows with the execution, and what
the partial-order reduction saves. Every figure is the best of several runs: on a machine with other work, the slower
ones measure that work.
"""

from time import perf_counter

from conformance.case import Case, Graph, Task
from conformance.model.configuration import initial
from conformance.model.execution import RandomScheduler, execution
from conformance.model.explore import explore
from conformance.programs import Digest, Distinct, KeyedSum, Sum

DIAMOND = Graph(
    ("a", "b"),
    (
        Task("left", ("a",), "x", Digest()),
        Task("right", ("b",), "y", Sum()),
        Task("join", ("x", "y"), "z", Digest()),
    ),
)
STATEFUL = Graph(
    ("a", "b"),
    (
        Task("seen", ("a",), "x", Distinct()),
        Task("keys", ("b",), "y", KeyedSum(100_000)),
        Task("join", ("x", "y"), "z", Digest()),
    ),
)
BRANCHES = Case(
    Graph(
        ("a", "b"),
        (
            Task("t", ("a",), "x", Digest()),
            Task("u", ("x",), "y", Digest()),
            Task("v", ("b",), "z", Digest()),
            Task("w", ("z",), "o", Digest()),
        ),
    ),
    {"a": ((1, 2), (3, 4)), "b": ((5, 6), (7, 8))},
)


def case_of(graph: Graph, messages: int, per_epoch: int = 10) -> Case:
    """Make a case whose execution ends with about so many messages on its five streams."""
    epochs = messages // (6 * (per_epoch + 1))
    events = [tuple(range(epoch * per_epoch, (epoch + 1) * per_epoch)) for epoch in range(epochs)]
    return Case(graph, dict.fromkeys(graph.sources, tuple(events)))


def steps_per_second(case: Case, repeats: int) -> tuple[int, int, float]:
    """Return the number of messages at the end, the number of steps, and the best rate."""
    best, steps, messages = 0.0, 0, 0
    for _ in range(repeats):
        start = initial(case)
        steps = 0
        end = start
        started = perf_counter()
        for _, end in execution(start, RandomScheduler.seeded(1)):  # noqa: B007 - the last one counts
            steps += 1
        best = max(best, steps / (perf_counter() - started))
        messages = sum(map(len, end.messages.values()))
    return messages, steps, best


def main() -> None:
    """Print the figures."""
    for name, graph in (("digest, sum, digest", DIAMOND), ("distinct, keyed_sum, digest", STATEFUL)):
        rates = []
        for messages, repeats in ((2_000, 25), (20_000, 9), (200_000, 5)):
            found, steps, rate = steps_per_second(case_of(graph, messages), repeats)
            rates.append(rate)
            print(f"random execution ({name}): {found} messages, {steps} steps: {rate:,.0f} steps/s")
        print(f"  at 200,000 messages {rates[-1] / rates[0]:.2f} of the rate at 2,000")
    for failures in (0, 1, 2):
        full, reduced = explore(BRANCHES, failures, reduced=False), explore(BRANCHES, failures)
        same = (full.outs, full.ends, full.transparent, full.live) == (
            reduced.outs,
            reduced.ends,
            reduced.transparent,
            reduced.live,
        )
        print(
            f"exploration of two independent branches, {failures} failures: {full.states} states, "
            f"reduced {reduced.states}: {full.states / reduced.states:.0f} times fewer, "
            f"{'same' if same else 'DIFFERENT'} answer"
        )
