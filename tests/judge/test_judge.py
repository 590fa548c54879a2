"""The judge against exhaustive exploration, and one test for each kind of finding."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.case import Case, Graph, Task
from conformance.errors import Malformed
from conformance.generators import cases as generated
from conformance.judge import Budget, Conforms, Inconclusive, Violates, judge
from conformance.judge.verdict import Finding, delivery_guarantee
from conformance.judge.witness import Unproven
from conformance.model.configuration import initial
from conformance.model.execution import RandomScheduler, execution, run
from conformance.model.explore import explore
from conformance.model.snapshot import observed
from conformance.model.trace import configurations
from conformance.programs import Average, Count, Digest, Distinct, Repeat, Sum
from tests.judge.builders import CHAIN, RIGHT, observations_of, violation
from tests.small import cases, graphs

JOIN = Case(Graph(("a", "b"), (Task("t", ("a", "b"), "x", Digest()),)), {"a": ((1, 2), (3,)), "b": ((4,), (5, 6))})


def out(case, seed=0, streams=None):
    """Return what one execution of the model shows of these streams in the end."""
    shown = observed(run(case, seed).end)
    return {stream: epochs for stream, epochs in shown.items() if streams is None or stream in streams}


def upto(shown, epochs):
    return {stream: each[:epochs] for stream, each in shown.items()}


tiny = cases(most_epochs=2, most_events=2, graph=graphs(most_tasks=2, most_sources=2, most_inputs=2))


@st.composite
def perturbed(draw, case, streams):
    """What an execution shows of these streams, with at most one change."""
    shown = {s: [list(e) for e in epochs] for s, epochs in out(case, draw(st.integers(0, 9)), streams).items()}
    stream = draw(st.sampled_from(sorted(shown)))
    segment = shown[stream][draw(st.integers(0, len(shown[stream]) - 1))]
    match draw(st.integers(0, 4)):
        case 1 if segment:
            segment[draw(st.integers(0, len(segment) - 1))] = draw(st.integers(0, 9))
        case 2 if segment:
            del segment[draw(st.integers(0, len(segment) - 1))]
        case 3 if segment:
            segment.insert(0, draw(st.sampled_from(segment)))
        case 4:
            segment.reverse()
    return {s: tuple(map(tuple, epochs)) for s, epochs in shown.items()}


@settings(max_examples=250)
@given(st.data())
def test_conforms_if_and_only_if_some_failure_free_execution_shows_it(data):
    case = data.draw(tiny)
    inner = [s for s in case.graph.streams if s not in case.graph.sinks]
    streams = {*case.graph.sinks, *data.draw(st.lists(st.sampled_from(inner), unique=True))}
    shown = data.draw(perturbed(case, streams))
    possible = [{s: e for s, e in end if s in streams} for end in explore(case).ends]
    verdict = judge(case, observations_of(case, shown), Budget(steps=100_000))
    assert isinstance(verdict, Conforms if shown in possible else Violates)
    lagging = judge(case, observations_of(case, shown, atomic=False), Budget(steps=100_000))
    assert type(lagging) is type(verdict)


@settings(max_examples=60)
@given(generated(), st.integers(0, 99))
def test_the_model_conforms_with_each_observation_at_its_index(case, seed):
    shown = shown_of(case, seed, set(case.graph.streams))
    verdict = judge(case, observations_of(case, *shown))
    assert isinstance(verdict, Conforms)
    assert_proves(verdict, shown)


@settings(max_examples=60)
@given(generated(), st.integers(0, 99))
def test_the_model_never_violates_when_only_sinks_are_observed(case, seed):
    shown = shown_of(case, seed, set(case.graph.sinks))
    verdict = judge(case, observations_of(case, *shown), Budget(steps=100_000))
    if isinstance(verdict, Inconclusive):
        assert "100000 steps" in verdict.because.replace(",", "")
        assert any(len(task.inputs) > 1 for task in case.graph.tasks), "without a choice there is nothing to search"
    else:
        assert isinstance(verdict, Conforms)
        assert_proves(verdict, shown)


def shown_of(case, seed, streams):
    """Return what some execution shows of these streams, one observation after the other."""
    shown = [{s: e for s, e in observed(initial(case)).items() if s in streams}]
    for _, c in execution(initial(case), RandomScheduler.seeded(seed)):
        now = {s: e for s, e in observed(c).items() if s in streams}
        if now != shown[-1]:
            shown.append(now)
    return shown


def assert_proves(verdict, shown):
    """The witness shows what was seen, at the places that the verdict names."""
    assert list(verdict.at) == sorted(verdict.at)
    along = list(configurations(initial(verdict.case), verdict.witness))
    for at, each in zip(verdict.at, shown, strict=True):
        assert {s: e for s, e in observed(along[at]).items() if s in each} == each


@settings(max_examples=60)
@given(tiny, st.integers(0, 9))
def test_own_epochs_are_judged_by_the_borders_they_show(case, seed):
    shown = out(case, seed)
    verdict = judge(case, observations_of(case, shown, epochs="own"))
    assert isinstance(verdict, Conforms)
    one = Case(case.graph, {s: (tuple(e for epoch in epochs for e in epoch),) for s, epochs in case.inputs.items()})
    assert isinstance(judge(case, observations_of(case, out(one, seed), epochs="own")), Conforms), "one giant epoch"


@settings(max_examples=60)
@given(tiny, st.integers(0, 9))
def test_aligned_output_conforms_as_unaligned(case, seed):
    assert isinstance(judge(case, observations_of(case, out(case, seed), snapshots="unaligned")), Conforms)


def test_unaligned_events_may_be_taken_late_but_not_early():
    case = Case(Graph(("a", "b"), (Task("t", ("a", "b"), "x", Sum()),)), {"a": ((1,), (2,)), "b": ((4,), (8,))})
    late = {**case.inputs, "x": ((4,), (5, 13, 15))}
    early = {**case.inputs, "x": ((1, 3, 7), (15,))}
    assert isinstance(judge(case, observations_of(case, late, snapshots="unaligned")), Conforms)
    assert isinstance(judge(case, observations_of(case, late)), Violates)
    assert isinstance(judge(case, observations_of(case, early, snapshots="unaligned")), Violates)
    aligned = judge(case, observations_of(case, early))
    assert isinstance(aligned, Violates)
    assert aligned.findings[0].diagnosis == "misaligned"


def test_events_untaken_at_the_end_are_a_violation():
    case = Case(Graph(("a",), (Task("t", ("a",), "x", Sum()),)), {"a": ((1,), (2,))})
    assert isinstance(
        judge(case, observations_of(case, {**case.inputs, "x": ((1,), ())}, snapshots="unaligned")), Violates
    )


def test_output_that_is_taken_back_is_retracted():
    verdict = violation(CHAIN, RIGHT, upto(RIGHT, 1), RIGHT)
    assert {finding.diagnosis for finding in verdict.findings} == {"retracted"}
    changed = {**CHAIN.inputs, "x": ((1, 3), (9, 9))}
    assert "retracted" in {finding.diagnosis for finding in violation(CHAIN, changed, RIGHT).findings}


def test_an_epoch_shown_before_its_commit_is_dirty():
    half = {"a": ((1, 2), (3,)), "x": ((1, 3), (6,))}
    verdict = violation(CHAIN, half, RIGHT)
    assert {finding.diagnosis for finding in verdict.findings} == {"dirty", "lost"}, "a source is never half recorded"
    sinks = {"x": half["x"]}
    verdict = violation(CHAIN, sinks, {"x": RIGHT["x"]})
    assert {finding.diagnosis for finding in verdict.findings} == {"dirty"}
    assert verdict.guarantee == "at-least-once"


def test_streams_at_different_epochs_are_torn_if_commits_are_atomic():
    ahead = {"a": RIGHT["a"], "x": RIGHT["x"][:1]}
    (finding,) = violation(CHAIN, ahead, RIGHT).findings
    assert (finding.diagnosis, finding.observation, finding.stream) == ("torn", 0, "x")
    assert isinstance(judge(CHAIN, observations_of(CHAIN, ahead, RIGHT, atomic=False)), Conforms)


def test_a_missing_epoch_is_a_stall_beside_other_findings():
    (finding,) = violation(CHAIN, upto(RIGHT, 1), end="stalled").findings
    assert (finding.diagnosis, finding.epoch) == ("stalled", 2)
    wrong = {"a": ((1, 2),), "x": ((1, 4),)}
    found = [finding.diagnosis for finding in violation(CHAIN, wrong, end="stalled").findings]
    assert found == ["corrupted state", "stalled"]


def test_a_source_that_shows_other_input_is_found_at_the_source():
    (finding, *_) = violation(CHAIN, {**RIGHT, "a": ((1, 2), (4, 3))}).findings
    assert (finding.diagnosis, finding.stream, finding.epoch) == ("reordered", "a", 2)


def test_more_epochs_than_the_input_has_are_duplicated():
    more = {"a": RIGHT["a"], "x": (*RIGHT["x"], (10,))}
    found = violation(CHAIN, more, atomic=False).findings
    assert found[0].diagnosis == "duplicated"
    assert found[0].epoch == 3


def test_a_run_that_ended_in_an_error_never_conforms():
    verdict = judge(CHAIN, observations_of(CHAIN, upto(RIGHT, 1), end="error", message="out of memory"))
    assert verdict == Inconclusive("the engine ended in an error: out of memory")
    assert isinstance(judge(CHAIN, observations_of(CHAIN, {"a": ((1, 2),), "x": ((9, 9),)}, end="error")), Violates)


def test_no_observations_are_inconclusive():
    assert isinstance(judge(CHAIN, observations_of(CHAIN)), Inconclusive)


def test_running_out_of_budget_is_inconclusive():
    case = Case(
        Graph(
            ("a", "b"),
            (
                Task("t", ("a", "b"), "x", Digest()),
                Task("u", ("a", "b", "x"), "y", Distinct()),
                Task("v", ("y",), "z", Count()),
            ),
        ),
        {"a": (tuple(range(9)),), "b": (tuple(range(10, 19)),)},
    )
    shown = out(case, streams=case.graph.sinks)
    wrong = {"z": (shown["z"][0][:-1],)}
    assert isinstance(judge(case, observations_of(case, wrong), Budget(steps=500)), Inconclusive)
    assert isinstance(judge(case, observations_of(case, wrong), Budget(steps=10**9, seconds=0.05)), Inconclusive)


@pytest.mark.parametrize(
    ("found", "guarantee"),
    [
        ((), "exactly-once"),
        (("duplicated",), "at-least-once"),
        (("dirty",), "at-least-once"),
        (("lost",), "at-most-once"),
        (("stalled",), "at-most-once"),
        (("reordered", "torn"), "exactly-once up to order"),
        (("lost", "duplicated"), "none"),
        (("corrupted state",), "none"),
    ],
)
def test_the_strongest_guarantee_that_is_left(found, guarantee):
    assert delivery_guarantee(tuple(Finding(each, "") for each in found)) == guarantee


def test_an_unproven_verdict_is_a_bug_of_ours(monkeypatch):
    monkeypatch.setattr("conformance.judge.witness.trace_of", lambda *_: ())
    with pytest.raises(Unproven, match="please report"):
        judge(CHAIN, observations_of(CHAIN, RIGHT))
    assert Unproven.exit_code == 70


PAIR = Case(Graph(("a",), (Task("t", ("a",), "x", Sum()),)), {"a": ((1,), (2,))})


def diagnoses(case, *shown, **options):
    verdict = judge(case, observations_of(case, *shown, **options))
    return [finding.diagnosis for finding in verdict.findings] if isinstance(verdict, Violates) else type(verdict)


def test_an_unaligned_source_may_lag_but_not_lead_or_lose_events():
    x = ((1,), (3,))
    assert diagnoses(PAIR, {"a": ((), (1, 2)), "x": x}, snapshots="unaligned") is Conforms
    assert diagnoses(PAIR, {"a": ((1, 2), ()), "x": x}, snapshots="unaligned") != Conforms
    assert diagnoses(PAIR, {"a": ((1,), ()), "x": x}, snapshots="unaligned") == ["lost"]


@pytest.mark.parametrize("snapshots", ["aligned", "unaligned"])
def test_an_incomplete_stream_is_judged_as_far_as_it_goes(snapshots):
    shown = {"a": ((1,), (2,)), "x": ((9,),)}
    options = {"snapshots": snapshots, "atomic": False}
    assert diagnoses(PAIR, shown, end="error", **options) == ["corrupted state"]
    assert diagnoses(PAIR, shown, end="stalled", **options) == ["corrupted state", "stalled"]


@pytest.mark.parametrize("snapshots", ["aligned", "unaligned"])
def test_a_complete_stream_can_lose_events_while_others_are_late(snapshots):
    two = Case(
        Graph(("a", "b"), (Task("t", ("a", "b"), "x", Sum()), Task("u", ("a",), "y", Count()))),
        {"a": ((2,),), "b": ((1,),)},
    )
    options = {"snapshots": snapshots, "atomic": False}
    assert diagnoses(two, {"x": ((2,),), "y": ()}, end="stalled", **options) == ["lost", "stalled"]
    one = Case(Graph(("a",), (Task("t", ("a",), "x", Sum()),)), {"a": ((2,),)})
    assert diagnoses(one, {"x": ((),)}, end="error", **options) == ["lost"]


def test_own_epochs_are_judged_as_far_as_the_sources_show_them():
    ahead = {"a": ((1,),), "x": ((1,), (3,))}
    assert diagnoses(PAIR, ahead, epochs="own", atomic=False, end="error") is Inconclusive
    assert set(diagnoses(PAIR, ahead, epochs="own", atomic=False, end="stalled")) == {"stalled"}
    wrong = {"a": ((1,),), "x": ((2,), (3,))}
    assert "corrupted state" in diagnoses(PAIR, wrong, epochs="own", atomic=False, end="stalled")


def test_a_finding_is_always_of_an_observed_stream():
    hidden = Graph(("a",), (Task("t", ("a",), "x", Sum()), Task("u", ("x",), "y", Count())))
    case = Case(hidden, {"a": ((1,), (2,))})
    verdict = judge(case, observations_of(case, {"y": ((1,), (2, 3))}, snapshots="unaligned"))
    assert isinstance(verdict, Violates)
    assert verdict.findings[0].stream == "y"


def test_streams_that_cannot_be_judged_are_refused():
    with pytest.raises(Malformed, match="at least every sink"):
        judge(PAIR, observations_of(PAIR, {"a": ()}))
    with pytest.raises(Malformed, match="every source"):
        judge(PAIR, observations_of(PAIR, {"x": ()}, epochs="own"))


@pytest.mark.parametrize("number", [16, 30, 70])
def test_many_inputs_are_judged_or_inconclusive(number):
    names = tuple(f"s{n}" for n in range(number))
    for program in (Sum(), Average()):
        case = Case(Graph(names, (Task("t", names, "x", program),)), dict.fromkeys(names, ((1,),)))
        verdict = judge(case, observations_of(case, out(case)), Budget(steps=20_000))
        assert not isinstance(verdict, Violates)


def test_consequences_of_a_wrong_input_are_not_findings():
    tasks = (Task("t", ("s",), "x", Sum()), Task("u", ("x",), "y", Digest()), Task("v", ("s",), "z", Count()))
    case = Case(Graph(("s",), tasks), {"s": ((1, 2), (3,))})
    right = out(case)
    twice = {stream: (epochs[0], epochs[1] * 2) for stream, epochs in right.items() if stream in {"x", "y"}}
    verdict = judge(case, observations_of(case, right | twice))
    assert isinstance(verdict, Violates)
    assert verdict.guarantee == "at-least-once"
    assert [(finding.diagnosis, finding.stream) for finding in verdict.findings] == [("duplicated", "x")]
    # Nor are consequences of consequences, even where they are right for their inputs.
    longer = Case(
        Graph(("s",), (*tasks[:1], Task("u", ("x",), "y", Repeat(1)), Task("w", ("y",), "z", Sum()))), case.inputs
    )
    shown = out(longer)
    verdict = judge(
        longer, observations_of(longer, shown | {stream: (shown[stream][0], shown[stream][1] * 2) for stream in "xy"})
    )
    assert [(finding.diagnosis, finding.stream) for finding in verdict.findings] == [("duplicated", "x")]
    # What is wrong in an earlier epoch, or in another stream, is a finding.
    earlier = {**right, "x": twice["x"], "y": ((9,), right["y"][1]), "z": ((1, 2), (3, 3))}
    found = judge(case, observations_of(case, earlier)).findings
    assert {(each.stream, each.epoch) for each in found} == {("x", 2), ("y", 1), ("z", 2)}
