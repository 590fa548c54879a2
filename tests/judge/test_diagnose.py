"""Diagnoses of output that no execution explains."""

from itertools import accumulate

import pytest

from conformance.case import Case, Graph, Task
from conformance.programs import Average, Count, Digest, Map, Sum
from tests.judge.builders import CHAIN, violation


def test_events_taken_early_and_again_are_misaligned_and_duplicated():
    case = Case(Graph(("a", "b"), (Task("t", ("a", "b"), "x", Sum()),)), {"a": ((1,), (2, 3)), "b": ((4,), (8,))})
    # 2 of the next epoch is taken early: 1, 1+2, 1+2+4. If 3 and 8 follow, nothing else is wrong...
    early = violation(case, {**case.inputs, "x": ((1, 3, 7), (10, 18))})
    assert [finding.diagnosis for finding in early.findings] == ["misaligned"]
    assert early.guarantee == "exactly-once up to order"
    # ... but after a failure 2 is played again, on top of a snapshot that has it already.
    again = violation(
        case, {**case.inputs, "x": ((1, 3, 7),)}, {**case.inputs, "x": ((1, 3, 7), (9, 12, 20))}, atomic=False
    )
    misaligned, duplicated = again.findings
    assert (misaligned.diagnosis, misaligned.epoch, misaligned.observation) == ("misaligned", 1, 0)
    assert (duplicated.diagnosis, duplicated.epoch, duplicated.observation) == ("duplicated", 2, 1)
    assert "Epoch 2 of `x` counts 2 again" in duplicated.because
    assert again.guarantee == "at-least-once"


def test_many_events_taken_early_are_misaligned():
    many = tuple(range(2, 14))
    case = Case(Graph(("a", "b"), (Task("t", ("a", "b"), "x", Sum()),)), {"a": ((1,), many), "b": ((4,), (8,))})
    sums = tuple(accumulate((1, *many, 4)))
    right = violation(case, {**case.inputs, "x": (sums, (sums[-1] + 8,))})
    assert [finding.diagnosis for finding in right.findings] == ["misaligned"]
    twice = tuple(accumulate((*many, 8), initial=sums[-1]))[1:]
    again = violation(case, {**case.inputs, "x": (sums, twice)})
    assert [finding.diagnosis for finding in again.findings] == ["misaligned", "duplicated"]


def test_events_taken_early_are_found_in_a_busy_epoch():
    busy = {"a": ((1,) * 40, (1,) * 8), "b": ((1,) * 40, (1,) * 3)}
    case = Case(Graph(("a", "b"), (Task("t", ("a", "b"), "x", Count()),)), busy)
    found = violation(case, {**busy, "x": (tuple(range(1, 89)), tuple(range(89, 92)))})
    assert [finding.diagnosis for finding in found.findings] == ["misaligned"]


def test_determined_unobserved_streams_are_used_in_diagnoses():
    graph = Graph(("a", "b"), (Task("z", ("b",), "zs", Map(2, 0)), Task("t", ("a", "zs"), "x", Digest())))
    case = Case(graph, {"a": ((1,), (2, 3)), "b": ((4,), (5,))})
    early, later = [], []
    state = 7
    for events, shown in (((1, 2, 8), early), ((2, 3, 10), later)):
        for event in events:
            state, outputs = Digest()(state, event)
            shown.extend(outputs)
    verdict = violation(case, {"x": (tuple(early), tuple(later))})
    assert [finding.diagnosis for finding in verdict.findings] == ["misaligned", "duplicated"]
    assert verdict.guarantee == "at-least-once"


@pytest.mark.parametrize(
    ("shown", "name", "kept", "epoch", "position"),
    [
        (((1, 3), (6,)), "lost", "at-most-once", 2, 1),
        (((1, 3), (6, 9, 13)), "duplicated", "at-least-once", 2, 1),
        (((1, 3), (7, 10)), "reordered", "exactly-once up to order", 2, 0),
        (((1, 3), (3, 7)), "corrupted state", "none", 2, 0),
    ],
)
def test_each_diagnosis_and_the_guarantee_it_leaves(shown, name, kept, epoch, position):
    verdict = violation(CHAIN, {**CHAIN.inputs, "x": shown})
    (finding,) = verdict.findings
    assert (finding.diagnosis, finding.stream, finding.epoch, finding.position) == (name, "x", epoch, position)
    assert verdict.guarantee == kept


def test_a_finding_says_where_it_is_what_was_possible_and_why():
    case = Case(
        Graph(("ints", "resets"), (Task("average", ("ints", "resets"), "averages", Average()),)),
        {"ints": ((1,), (3, 5)), "resets": ((), ("reset",))},
    )
    (finding,) = violation(case, {**case.inputs, "averages": ((1,), (3, 3))}).findings
    assert finding.because.startswith(
        "Epoch 2 of `averages` shows 3 at position 1, where `average` could have shown 4. "
        "No order of its events (2 of `ints` and 1 of `resets`) gives that."
    )
    assert (finding.expected, finding.observed) == ((4,), (3,))
