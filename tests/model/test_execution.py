"""Schedulers, and the moments at which a case's failures happen."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.case import Case, Crash, Graph, Hold, Kill, Partition, Restart, Task
from conformance.model.configuration import RECOVER, Rule, initial
from conformance.model.execution import RandomScheduler, RoundRobin, execution, holding, run, starving
from conformance.model.injection import RandomInjector, ScheduledInjector, handled
from conformance.model.snapshot import epoch_of, gce, observed
from conformance.model.trace import configurations, last
from conformance.programs import Digest, Sum
from tests.small import cases, graphs

GRAPH = Graph(("a", "b"), (Task("t", ("a", "b"), "x", Digest()), Task("u", ("x",), "y", Sum())))
INPUTS = {"a": ((1, 2), (3,), ()), "b": ((4,), (), (5, 6))}


def schedulers(case, seed):
    return [
        RandomScheduler.seeded(seed),
        RoundRobin(),
        *(starving(task.name, RoundRobin()) for task in case.graph.tasks),
        *(starving(task.name, RandomScheduler.seeded(seed)) for task in case.graph.tasks),
    ]


@given(cases(graph=graphs(most_tasks=3)), st.integers(0, 99))
def test_every_fair_execution_commits_every_epoch_under_every_scheduler(case, seed):
    for scheduler in schedulers(case, seed):
        *_, (_, end) = execution(initial(case), scheduler, RandomInjector(Random(seed), most=3))
        assert gce(end) == case.epochs
        assert not end.failed


@given(cases(graph=graphs(most_inputs=1)), st.integers(0, 99), st.integers(0, 99))
def test_single_input_tasks_have_one_out(case, seed, other):
    *_, (_, end) = execution(initial(case), RandomScheduler.seeded(seed), RandomInjector(Random(seed), most=2))
    *_, (_, same) = execution(initial(case), RandomScheduler.seeded(other))
    assert observed(end) == observed(same)


@given(cases(failures=True), st.integers(0, 99))
def test_an_execution_is_replayed_by_its_trace(case, seed):
    done = run(case, seed)
    assert last(initial(case), done.trace) == done.end
    assert run(case, seed) == done


@given(cases(failures=True), st.integers(0, 99))
def test_failures_fire_in_order_and_each_once(case, seed):
    done = run(case, seed)
    fails = [step for step in done.trace if step.rule is Rule.FAIL]
    expected = sum(1 if isinstance(f, Crash) else len(case.graph.tasks) for f in case.failures[: done.fired])
    assert len(fails) == expected
    assert gce(done.end) == case.epochs


@pytest.mark.parametrize("seed", range(20))
def test_a_crash_strikes_just_before_its_event_is_handled(seed):
    done = run(Case(GRAPH, INPUTS, (Crash("t", 1, 2),)), seed)
    at = [step.rule for step in done.trace].index(Rule.FAIL)
    before = last(initial(Case(GRAPH, INPUTS)), done.trace[:at])
    assert (epoch_of(before, "t"), handled(before, "t")) == (1, 2)
    assert done.fired == 1


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("event", ["border", 1, 7])
def test_a_crash_behind_the_last_event_strikes_at_the_border(seed, event):
    done = run(Case(GRAPH, INPUTS, (Crash("t", 2, event),)), seed)
    at = [step.rule for step in done.trace].index(Rule.FAIL)
    before = last(initial(Case(GRAPH, INPUTS)), done.trace[:at])
    assert (epoch_of(before, "t"), handled(before, "t")) == (2, 1)


@pytest.mark.parametrize("seed", range(20))
def test_the_same_crash_again_strikes_in_the_attempt_after(seed):
    crash = Crash("t", 1, 1)
    done = run(Case(GRAPH, INPUTS, (crash, crash, crash)), seed)
    assert done.fired == 3
    assert done.trace.count(RECOVER) == 3


def test_a_point_that_is_past_for_good_never_fires():
    done = run(Case(GRAPH, INPUTS, (Restart(2), Crash("t", 1, 0))), 1)
    assert done.fired == 1
    assert gce(done.end) == 3


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize(
    ("failure", "committed"),
    [
        (Kill("worker", 2), {0, 1}),
        (Kill("coordinator", 2, "processing"), {0, 1}),
        (Kill("worker", 2, "snapshot"), {0, 1}),
        (Kill("worker", 2, "commit"), {2}),
        (Partition("worker", 2, 1), {0, 1}),
        (Restart(2), {2}),
    ],
)
def test_a_kill_fails_every_task_while_its_epoch_is_in_flight(seed, failure, committed):
    case = Case(GRAPH, INPUTS, (failure,))
    done = run(case, seed)
    assert done.fired == 1
    at = [step.rule for step in done.trace].index(Rule.FAIL)
    before = last(initial(case), done.trace[:at])
    assert gce(before) in committed
    assert [step.rule for step in done.trace[at : at + 3]] == [Rule.FAIL, Rule.FAIL, Rule.RECOVER]


@pytest.mark.parametrize("seed", range(30))
def test_a_kill_in_the_snapshot_finds_it_begun_or_about_to_be_completed(seed):
    single = Graph(("a",), (Task("t", ("a",), "x", Sum()),))
    assert run(Case(single, {"a": ((),)}, (Kill("worker", 1, "snapshot"),)), seed).fired == 1


@pytest.mark.parametrize("seed", range(30))
def test_a_kill_in_recovery_strikes_before_the_recovery(seed):
    done = run(Case(GRAPH, INPUTS, (Crash("t", 1, 1), Kill("worker", 1, "recovery"))), seed)
    assert done.fired == 2
    assert done.trace.count(RECOVER) == 1


@pytest.mark.parametrize("seed", range(20))
def test_a_held_task_handles_its_epoch_after_all_others(seed):
    graph = Graph(
        ("a",),
        (Task("fast", ("a",), "x", Sum()), Task("slow", ("a",), "y", Sum()), Task("j", ("x", "y"), "z", Digest())),
    )
    case = Case(graph, {"a": ((1, 2), (3,))}, holds=(Hold("slow", 1),))
    c = initial(case)
    steps = [step for step, _ in execution(c, holding(case, RandomScheduler.seeded(seed)))]
    first = next(index for index, step in enumerate(steps) if step.task == "slow")
    before = last(c, steps[:first])
    assert epoch_of(before, "fast") == 3, "the fast branch is through, two epochs in flight"
    assert handled(before, "j") == 2, "and the join has taken what there was of the first"


def test_a_starved_task_still_finishes():
    case = Case(GRAPH, INPUTS)
    trace = [step for step, _ in execution(initial(case), starving("t", RoundRobin()))]
    firsts = [step.task for step in trace[:2]]
    assert firsts == ["t", "u"], "u moves whenever it can, t only when u cannot"
    assert gce(last(initial(case), trace)) == 3


def test_round_robin_gives_every_input_its_turn():
    case = Case(GRAPH, {"a": ((1, 1, 1),), "b": ((2, 2, 2),)})
    taken = [step.stream for step, _ in execution(initial(case), RoundRobin()) if step.task == "t" and step.stream]
    assert set(taken[:3]) == {"a", "b"}


@given(cases(failures=True), st.integers(0, 99))
def test_a_scheduled_failure_never_strikes_a_commit_away(case, seed):
    done = run(case, seed)
    commits = [gce(c) for c in configurations(initial(case), done.trace)]
    assert commits == sorted(commits)


def test_nothing_is_due_when_all_have_fired():
    c = initial(Case(GRAPH, INPUTS))
    assert ScheduledInjector((), Random(0)).due(c, None) == ()
