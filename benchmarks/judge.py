"""
The speed of the judge, for every program and inputs of different sizes.

Outputs are right, or have one wrong value at the end. Also, how often the judge gives up if only sinks were observed.
"""

from random import Random
from time import perf_counter
from typing import Any

from conformance.adapters.reference import Reference
from conformance.engine import RunRequest
from conformance.generators import cases, collect
from conformance.judge import Budget, Inconclusive, judge
from conformance.judge.ordering import NoOrdering, Ordering
from conformance.judge.task import find_ordering
from conformance.programs import (
    Average,
    Batch,
    Count,
    Digest,
    Distinct,
    Filter,
    KeyedSum,
    Map,
    P,
    Program,
    Repeat,
    Sum,
)

PROGRAMS: tuple[Program[Any], ...] = (
    Count(), Sum(), Digest(), Distinct(), KeyedSum(2), Map(2, 1), Filter(2, 0), Repeat(2), Batch(2), Average(),
)  # fmt: skip
SIZES = ((1000, 1000), (3000, 3000), (300, 300, 300))
VALUES = (3, 1000, P)
REPEATS = 3


def make_question(program: Program[Any], sizes: tuple[int, ...], values: int, *, wrong: bool) -> tuple[Any, ...]:
    """Make inputs of these sizes, and the output of the program for a random order of them."""
    random = Random(f"{program}{sizes}{values}")
    inputs = [tuple(random.randrange(values) for _ in range(size)) for size in sizes]
    order = [which for which, size in enumerate(sizes) for _ in range(size)]
    random.shuffle(order)
    state, output, at = program.initial, [], [0] * len(sizes)
    for which in order:
        state, emitted = program(state, inputs[which][at[which]])
        output.extend(emitted)
        at[which] += 1
    if wrong:
        output[-1] = (output[-1] + 1) % P
    return program, program.initial, inputs, tuple(output)


def seconds(program: Program[Any], sizes: tuple[int, ...], values: int, *, wrong: bool) -> tuple[float, str]:
    """Return the best time for an answer, and a note if the answer is not the expected one."""
    asked = make_question(program, sizes, values, wrong=wrong)
    best, answer = 1e9, None
    for _ in range(REPEATS):
        started = perf_counter()
        answer = find_ordering(*asked)
        best = min(best, perf_counter() - started)
    expected = NoOrdering if wrong else Ordering
    return best, "" if isinstance(answer, expected) else " (search)" if answer is None else " (WRONG)"


def main() -> None:
    """Print the figures."""
    print("one task and epoch, seconds for 2 x 1,000, 2 x 3,000 and 3 x 300 events; ratio of the first two")
    for program in PROGRAMS:
        for wrong in (False, True):
            for values in VALUES:
                times = [seconds(program, sizes, values, wrong=wrong) for sizes in SIZES]
                shown = "  ".join(f"{time:.3f}{note}" for time, note in times)
                kind = "one wrong value" if wrong else "right"
                print(
                    f"  {program.op:10} {kind:16} values below {values:<11} {shown}  x{times[1][0] / times[0][0]:.1f}"
                )
    _sinks_only()


def _sinks_only(number: int = 400) -> None:
    gave_up = wrong_gave_up = 0
    engine = Reference([])
    for seed, case in enumerate(collect(cases(), number=number, seed=11)):
        (seen,) = engine.run([RunRequest(case, frozenset(case.graph.sinks), seed=seed)])
        gave_up += isinstance(judge(case, seen, Budget.of_seconds(1)), Inconclusive)
        broken = _with_a_wrong_value(seen)
        wrong_gave_up += isinstance(judge(case, broken, Budget.of_seconds(1)), Inconclusive)
    print(f"sinks only, 1 s each: {gave_up} of {number} right runs inconclusive, {wrong_gave_up} with one wrong value")


def _with_a_wrong_value(seen: Any) -> Any:
    from attrs import evolve  # noqa: PLC0415

    def change(streams: Any) -> dict[str, Any]:
        changed = dict(streams)
        for stream, epochs in streams.items():
            for number, epoch in reversed(list(enumerate(epochs))):
                if epoch:
                    changed[stream] = (*epochs[:number], (*epoch[:-1], 77_777), *epochs[number + 1 :])
                    return changed
        return changed

    last = evolve(seen.observations[-1], streams=change(seen.observations[-1].streams))
    return evolve(seen, observations=(last,))
