"""The short cuts for one task in one epoch, against brute force."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.judge.ordering import NoOrdering, Ordering
from conformance.judge.task import find_ordering
from conformance.programs import Average, Batch, Count, Digest, Distinct, KeyedSum, Map, Repeat, Sum
from tests.judge.brute import common, orders, outcome, outcomes
from tests.small import PROGRAMS

few = st.integers(0, 3)
some = st.lists(few | st.sampled_from(["x", "y"]), max_size=3).map(tuple)
integers = st.lists(few, max_size=3).map(tuple)


@st.composite
def questions(draw, events=some):
    """A program somewhere in its run, its inputs, and an output that is right, or nearly, or not at all."""
    program = draw(st.sampled_from(PROGRAMS))
    state = program.initial
    for event in draw(st.lists(few, max_size=3)):
        state, _ = program(state, event)
    inputs = draw(st.lists(events, min_size=1, max_size=3))
    order = draw(st.sampled_from(list(orders([len(each) for each in inputs]))[:50]))
    output = list(outcome(program, state, inputs, order)[0])
    match draw(st.integers(0, 4)):
        case 1 if output:
            output[draw(st.integers(0, len(output) - 1))] = draw(few)
        case 2 if output:
            del output[draw(st.integers(0, len(output) - 1))]
        case 3:
            output.insert(draw(st.integers(0, len(output))), draw(few | st.just("x")))
        case 4 if len(output) > 1:
            place = draw(st.integers(1, len(output) - 1))
            output[place - 1], output[place] = output[place], output[place - 1]
    return program, state, tuple(inputs), tuple(output)


def check(question):
    program, state, inputs, output = question
    answer = find_ordering(program, state, inputs, output)
    possible = outcomes(program, state, inputs)
    ends = {end for emitted, end in possible if emitted == output}
    if isinstance(answer, Ordering):
        assert outcome(program, state, inputs, answer.order) == (output, answer.state)
        assert ends == {answer.state}, "one order is enough"
    elif isinstance(answer, NoOrdering):
        assert ends == set()
        furthest = max(common(emitted, output) for emitted, _ in possible)
        assert answer.position == furthest
        following = {
            emitted[furthest]
            for emitted, _ in possible
            if len(emitted) > furthest and common(emitted, output) == furthest
        }
        assert set(answer.expected) <= following
        assert bool(answer.expected) == bool(following)
    return answer


@settings(max_examples=600)
@given(questions())
def test_short_cuts_agree_with_brute_force(question):
    check(question)


@settings(max_examples=300)
@given(questions(events=integers))
def test_only_ambiguous_keys_of_integers_need_the_search(question):
    answer = check(question)
    assert answer is not None or isinstance(question[0], KeyedSum)


@pytest.mark.parametrize("program", PROGRAMS, ids=repr)
def test_every_program_explains_its_own_output(program):
    inputs = ((1, 2, 3, 3), (4, 3, 1), (5, 2))
    for order in list(orders([4, 3, 2]))[::97]:
        output, state = outcome(program, program.initial, inputs, order)
        answer = find_ordering(program, program.initial, inputs, output)
        if answer is not None:
            assert isinstance(answer, Ordering)
            assert outcome(program, program.initial, inputs, answer.order) == (output, state)


@pytest.mark.parametrize(
    ("program", "output", "stuck"),
    [
        (Sum(), (1, 4, 9), NoOrdering(1, (3, 5))),
        (Digest(), (7,), NoOrdering(0, (219, 222))),
        (Count(), (1, 2, 4), NoOrdering(2, (3,))),
        (Count(), (1, 2), NoOrdering(2, (3,))),
        (Count(), (1, 2, 3, 4), NoOrdering(3)),
        (Map(1, 0), (1, 2, 3), NoOrdering(2, (4,))),
        (Repeat(2), (1, 1, 2, 4), NoOrdering(3, (2,))),
        (Distinct(), (1, 4, 3), NoOrdering(2, (2,))),
        (Batch(2), (4,), NoOrdering(0, (3, 5))),
        (Average(), (1, 1, 3), NoOrdering(2, (2,))),
        (KeyedSum(2), (1, 1, 2), NoOrdering(1, (2, 4))),
    ],
    ids=repr,
)
def test_no_ordering_says_where_and_what_was_expected(program, output, stuck):
    assert find_ordering(program, program.initial, ((1, 2), (4,)), output) == stuck
