import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.errors import Malformed
from conformance.programs import (
    PROGRAMS,
    Average,
    Batch,
    Count,
    Digest,
    Distinct,
    Filter,
    KeyedSum,
    Map,
    P,
    Repeat,
    Sum,
)
from tests.small import PROGRAMS as SAMPLES


def fold(program, events):
    """All that a program emits for these events."""
    state, emitted = program.initial, []
    for event in events:
        state, outputs = program(state, event)
        emitted.extend(outputs)
    return emitted


@pytest.mark.parametrize(
    ("program", "events", "emitted"),
    [
        (Map(2, 3), [0, 1, P - 1], [3, 5, 1]),
        (Filter(3, 1), [0, 1, 4, 5, 7], [1, 4, 7]),
        (Repeat(3), [4], [4, 4, 4]),
        (Repeat(0), [4, 5], []),
        (Sum(), [1, 2, P - 1], [1, 3, 2]),
        (Count(), [9, 9, 9], [1, 2, 3]),
        (Digest(), [0, 1], [7 * 31 + 1, (7 * 31 + 1) * 31 + 2]),
        (Distinct(), [1, 2, 1, 3, 2], [1, 2, 3]),
        (Batch(2), [1, 2, 3], [3]),
        (Batch(1), [1, 2], [1, 2]),
        (Batch(2), [P - 1, 2], [1]),
        (Average(), [1, 4, "reset", 7], [1, 2, 7]),
        (KeyedSum(2), [1, 2, 3, 4], [1, 2, 4, 6]),
    ],
    ids=lambda value: repr(value) if not isinstance(value, list) else "",
)
def test_each_program_computes_what_the_format_specifies(program, events, emitted):
    assert fold(program, events) == emitted


def test_there_are_ten_programs():
    assert list(PROGRAMS) == [
        "map", "filter", "repeat", "sum", "count", "digest", "distinct", "batch", "average", "keyed_sum",
    ]  # fmt: skip


@pytest.mark.parametrize("program", SAMPLES, ids=repr)
@pytest.mark.parametrize("text", ["", "hello", "reset"])
def test_strings_pass_through_and_leave_the_state_alone(program, text):
    if text == "reset" and isinstance(program, Average):
        return
    state, _ = program(program.initial, 5)
    assert program(state, text) == (state, (text,))


@pytest.mark.parametrize("program", SAMPLES, ids=repr)
@given(st.lists(st.integers(0, P - 1), max_size=30))
def test_outputs_are_events(program, events):
    assert all(isinstance(event, int) and 0 <= event < P for event in fold(program, events))


@pytest.mark.parametrize("program", SAMPLES, ids=repr)
@given(st.lists(st.integers(0, 9) | st.just("reset"), max_size=10))
def test_states_are_values(program, events):
    state = program.initial
    for event in events:
        kept = hash(state)
        after, _ = program(state, event)
        assert hash(state) == kept
        assert program(state, event)[0] == after
        state = after


@given(st.lists(st.integers(0, 9), min_size=2, max_size=6, unique=True), st.randoms(use_true_random=False))
def test_digest_tells_any_two_orders_apart(events, random):
    shuffled = random.sample(events, len(events))
    assert (fold(Digest(), events)[-1] == fold(Digest(), shuffled)[-1]) == (events == shuffled)


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda: Map(2**20 + 1, 0), ("mul",)),
        (lambda: Map(0, -1), ("add",)),
        (lambda: Map(True, 0), ("mul",)),  # noqa: FBT003
        (lambda: Map(1.0, 0), ("mul",)),
        (lambda: Filter(0, 0), ("mod",)),
        (lambda: Filter(3, 3), ("keep",)),
        (lambda: Repeat(9), ("times",)),
        (lambda: Batch(0), ("size",)),
        (lambda: KeyedSum("2"), ("keys",)),
        (lambda: KeyedSum(2**53), ("keys",)),
    ],
)
def test_parameters_out_of_range_are_refused(make, path):
    with pytest.raises(Malformed) as refused:
        make()
    assert refused.value.path == path
