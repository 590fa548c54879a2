"""Generated cases: what occurs, how often, and that a seed gives the same cases everywhere."""

import os
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.case import FAILURES, Case, Crash, Graph, Hold, Kill, Restart, Task
from conformance.codec import decode_case, digest, encode_case
from conformance.engine import Capabilities
from conformance.generators import (
    DEEP,
    SITUATIONS,
    Numbered,
    cases,
    collect,
    failures,
    graphs,
    holds,
    inputs,
    programs,
    situations,
)
from conformance.model.execution import run
from conformance.programs import PROGRAMS, Digest

GRAPH = Graph(
    ("a", "b"),
    (Task("t", ("a",), "x", Digest()), Task("u", ("b",), "y", Digest()), Task("v", ("x", "y"), "z", Digest())),
)


@pytest.fixture(scope="module")
def thousand():
    return collect(cases(), number=1000, seed=0)


def test_every_situation_occurs_in_at_least_three_of_a_hundred_cases(thousand):
    reached = Counter(name for case in thousand for name in situations(case))
    assert {name: reached[name] for name in SITUATIONS if reached[name] < 30} == {}


def test_every_program_is_generated(thousand):
    assert {task.program.op for case in thousand for task in case.graph.tasks} == set(PROGRAMS)


def test_every_generated_failure_fires_in_the_model(thousand):
    assert [case for case in thousand[:300] if run(case, seed=1).fired < len(case.failures)] == []


def test_no_case_comes_twice(thousand):
    assert len({digest(case) for case in thousand}) == 1000


def test_a_number_gives_its_case_without_the_others(thousand):
    numbered = Numbered(cases(), seed=0)
    assert numbered.get(100) == thousand[100]
    assert numbered.get(3) == thousand[3]


def test_another_seed_gives_other_cases(thousand):
    assert not set(thousand[100:200]) & set(collect(cases(), number=200, seed=1)[100:])


def test_the_same_seed_gives_the_same_cases_in_every_process(thousand):
    script = (
        "from conformance.generators import cases, collect; from conformance.codec import digest\n"
        "print(*[digest(case) for case in collect(cases(), number=50, seed=0)])"
    )
    for hash_seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
        )
        assert done.stdout.split() == [digest(case) for case in thousand[:50]]


def test_deep_cases_reach_their_bounds():
    deep = collect(cases(size=DEEP), number=150, seed=0)
    assert max(len(case.graph.tasks) for case in deep) == 12
    assert max(case.epochs for case in deep) == 8
    sizes = {len(events) for case in deep for epochs in case.inputs.values() for events in epochs}
    assert 50 in sizes
    assert max(sizes) == DEEP.flood, "some epochs fill an engine's network buffers"
    assert sorted(sizes)[-2] <= 50


CAPABILITIES = st.builds(
    Capabilities,
    failures=st.sets(
        st.sampled_from(
            [*FAILURES, "kill:worker", "kill:coordinator:commit", "kill:worker:recovery", "kill:worker:snapshot"]
        )
    ),
    programs=st.sets(st.sampled_from(list(PROGRAMS)), min_size=1),
    holds=st.booleans(),
    most_tasks=st.none() | st.integers(1, 3),
    most_events=st.none() | st.integers(1, 3),
)


@given(st.data())
def test_generated_cases_are_supported_by_the_engine(data):
    capabilities = data.draw(CAPABILITIES)
    case = data.draw(cases(capabilities=capabilities))
    assert capabilities.unsupported(case) == ()


def test_unsupported_parts_of_a_case_are_named():
    case = Case(
        GRAPH,
        {"a": ((1, 2),), "b": ((),)},
        (Kill("worker", 1, "snapshot"), Restart(1), Crash("t", 1, 0)),
        (Hold("t", 1),),
    )
    little = Capabilities(
        failures={"crash", "kill:coordinator"}, programs={"sum"}, holds=False, most_tasks=2, most_events=1
    )
    assert little.unsupported(case) == (
        "program digest",
        "failure kill worker in snapshot",
        "failure restart",
        "holds",
        "3 tasks, at most 2",
        "2 events in an epoch, at most 1",
    )
    assert Capabilities(failures={"kill:worker:snapshot", "restart", "crash"}).unsupported(case) == ()


def test_an_unknown_program_is_refused():
    with pytest.raises(ValueError, match="no program among eval; there are map"):
        programs(ops={"eval"})


@given(cases())
def test_generated_cases_can_be_written_and_read(case):
    assert decode_case(encode_case(case)) == case


@given(st.data())
def test_strategies_fit_a_given_graph(data):
    graph = data.draw(graphs(tasks=3) | st.just(GRAPH))
    drawn = data.draw(inputs(graph=graph, epochs=2))
    case = Case(
        graph, drawn, data.draw(failures(graph=graph, epochs=2, most=2)), data.draw(holds(graph=graph, epochs=2))
    )
    assert case.epochs == 2
    assert len(case.failures) <= 2
    assert run(case).fired == len(case.failures)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"holds": (Hold("u", 1),)}, "a late source"),
        ({"failures": (Crash("t", 1, 0), Crash("u", 1, 0))}, "two tasks in one epoch"),
        ({"failures": (Crash("t", 1, 1), Crash("t", 1, 0))}, "the same task again"),
        ({"failures": (Kill("worker", 1), Crash("t", 1, 0))}, "back to back"),
        ({"failures": (Crash("t", 1, 1),)}, "a crash in the middle"),
        ({"inputs": {"a": ((1, 1), ()), "b": ((2,), ())}}, "an epoch empty everywhere"),
        ({"inputs": {"a": ((1, 2, 3), ()), "b": ((2,), ())}}, "skew"),
    ],
)
def test_a_situation_is_recognised_only_where_it_occurs(changes, name):
    plain = {"graph": GRAPH, "inputs": {"a": ((1, 2), (3,)), "b": ((4,), (5,))}}
    assert name not in situations(Case(**plain))
    assert name in situations(Case(**(plain | changes)))


def test_a_slow_branch_is_one_path_of_a_diamond_and_not_both():
    diamond = Graph(
        ("a",),
        (
            Task("t", ("a",), "x", Digest()),
            Task("u", ("a",), "y", Digest()),
            Task("v", ("x", "y"), "z", Digest()),
        ),
    )
    slow = "a slow branch of a diamond"
    two = {"a": ((1,), (2,))}
    assert slow in situations(Case(diamond, two, holds=(Hold("t", 1),)))
    assert slow not in situations(Case(diamond, two, holds=(Hold("t", 1), Hold("u", 1))))
    assert slow not in situations(Case(diamond, two, holds=(Hold("v", 1),)))
    assert slow not in situations(Case(diamond, two, holds=(Hold("t", 2),))), "nothing overlaps the last epoch"
