"""Spark gives the same verdict on a dataset as the judge on the same observations, word for word."""

import json

import pytest
from attrs import evolve

from conformance.adapters.mutants import MUTANTS, ODD
from conformance.campaign.merge import merge
from conformance.case import Case, Graph, Task
from conformance.codec import digest, write_case
from conformance.engine import RunRequest
from conformance.generators import cases, collect
from conformance.judge import Conforms, Inconclusive, Violates, judge
from conformance.model.execution import run
from conformance.model.snapshot import observed
from conformance.observation import Observation, Observations
from conformance.pipeline.writer import write
from conformance.programs import Average, Batch, Count, Digest, Distinct, Filter, KeyedSum, Map, Repeat, Sum

# Spark's gateway closes its sockets late.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::ResourceWarning")]

PROGRAMS = (
    Map(3, 1), Filter(2, 0), Repeat(2), Sum(), Count(), Digest(), Distinct(), Batch(3), Average(), KeyedSum(3),
)  # fmt: skip
ALL = Graph(("a", "b"), tuple(Task(f"t-{p.op}", ("a", "b"), p.op, p) for p in PROGRAMS))
EVERY = Case(ALL, {"a": ((1, 2, 3), (4, 1), (), (9, 2)), "b": ((5, 1), (6,), (7, 7), (3, 8, 1))})
"""Every program with two inputs, over several epochs, so that each starts in a state of its own."""


def batch(number, seed):
    """Merge generated cases: many graphs for one run of Spark."""
    return merge(collect(cases(), number=number, seed=seed))


def same(verdict, expected):
    """Compare verdicts; that on a dataset has no witness."""
    if isinstance(expected, Conforms):
        return verdict == evolve(expected, witness=verdict.witness, at=verdict.at, case=verdict.case)
    return verdict == expected


def whole(case, seed=0):
    """Return two observations of an execution of the model: a partial one and a complete one."""
    shown = observed(run(case, seed).end)
    first = {stream: epochs[:1] for stream, epochs in shown.items()}
    return Observations(digest(case), (Observation(first), Observation(shown)))


def changed(seen, stream, epoch, position, event):
    """Replace one event of the last observation."""
    streams = dict(seen.observations[-1].streams)
    epochs = [list(events) for events in streams[stream]]
    epochs[epoch - 1][position] = event
    streams[stream] = tuple(map(tuple, epochs))
    return evolve(seen, observations=(*seen.observations[:-1], Observation(streams)))


@pytest.mark.parametrize("name", ["plain", "overtakes-the-border", "state-without-inputs", "appended-on-replay"])
def test_an_engine_gets_the_same_verdict_and_findings(answer, tmp_path, name):
    case = batch(8, seed=4)
    seen = (MUTANTS | ODD)[name](RunRequest(case, frozenset(case.graph.streams), seed=1)).run()
    expected = judge(case, seen)
    assert not isinstance(expected, Inconclusive)
    assert same(answer(write(tmp_path, case, seen)), expected)


def test_every_program_conforms_epoch_by_epoch(answer, tmp_path):
    seen = whole(EVERY)
    verdict = answer(write(tmp_path, EVERY, seen))
    assert same(verdict, judge(EVERY, seen))
    assert verdict.witness is None


def test_a_wrong_event_of_every_program_has_the_same_finding(answer, tmp_path):
    seen = whole(EVERY)
    for program in PROGRAMS:
        if seen.observations[-1].streams[program.op][3]:
            seen = changed(seen, program.op, 4, 0, 77)
    expected = judge(EVERY, seen)
    verdict = answer(write(tmp_path, EVERY, seen))
    assert isinstance(verdict, Violates)
    assert verdict == expected
    assert {finding.stream for finding in verdict.findings} > {"sum", "digest", "distinct", "keyed_sum", "average"}


def test_only_the_first_unexplained_epoch_is_reported(answer, tmp_path):
    seen = changed(changed(whole(EVERY), "sum", 4, 0, 77), "sum", 2, 1, 78)
    verdict = answer(write(tmp_path, EVERY, seen))
    assert [(finding.stream, finding.epoch, finding.position) for finding in verdict.findings] == [("sum", 2, 1)]


def test_tasks_that_share_an_unobserved_stream_are_judged_together(answer, tmp_path):
    graph = Graph(("a", "b"), (Task("t", ("a", "b"), "x", Sum()), Task("u", ("x",), "y", Map(2, 0))))
    case = Case(graph, {"a": ((1, 2), (3,)), "b": ((4,), (5, 6))})
    shown = {"y": observed(run(case).end)["y"]}
    right = Observations(digest(case), (Observation(shown),))
    wrong = changed(right, "y", 2, 1, 5)
    (tmp_path / "wrong").mkdir()
    assert same(answer(write(tmp_path, case, right)), judge(case, right))
    assert answer(write(tmp_path / "wrong", case, wrong)) == judge(case, wrong)


def test_text_and_resets_have_the_same_verdict(answer, tmp_path):
    tasks = (
        Task("t", ("a", "b"), "x", Average()),
        Task("u", ("a",), "y", Batch(2)),
        Task("v", ("a", "b"), "z", Count()),
    )
    case = Case(Graph(("a", "b"), tasks), {"a": ((1, 'né"w', 5), (3, 4)), "b": (("reset",), ("reset", 8))})
    wrong = changed(whole(case), "z", 2, 0, 9)
    (tmp_path / "wrong").mkdir()
    assert same(answer(write(tmp_path, case, whole(case))), judge(case, whole(case)))
    assert answer(write(tmp_path / "wrong", case, wrong)) == judge(case, wrong)


def test_retracted_torn_and_unrecorded_events_have_the_same_findings(answer, tmp_path):
    shown = dict(observed(run(EVERY).end))
    before = {**shown, "sum": (shown["sum"][0], (1, 2, 3)), "count": shown["count"] + ((11,),)}
    after = {
        **shown,
        "a": ((1, 2, 3), (4, 2), (), (9, 2)),
        "map": shown["map"][:3],
        "repeat": shown["repeat"] + ((1,),),
    }
    seen = Observations(digest(EVERY), (Observation(before), Observation(after)), end="stalled")
    expected = judge(EVERY, seen)
    assert {"torn", "retracted", "stalled"} <= {finding.diagnosis for finding in expected.findings}
    assert answer(write(tmp_path, EVERY, seen)) == expected


@pytest.mark.parametrize("claims", [{"snapshots": "unaligned"}, {"epochs": "own"}])
def test_unaligned_and_own_epochs_are_judged_in_one_process(answer, tmp_path, claims):
    seen = evolve(whole(EVERY), **claims)
    expected = judge(EVERY, seen)
    assert isinstance(expected, Conforms)
    assert answer(write(tmp_path, EVERY, seen)) == expected


def test_one_of_the_files_may_have_no_dataset(answer, tmp_path):
    seen = changed(whole(EVERY), "digest", 2, 0, 77)
    case_file, seen_file = write(tmp_path, EVERY, seen)
    write_case(case_file, EVERY)
    seen_file.write_text(json.dumps({**json.loads(seen_file.read_text()), "case": digest(EVERY)}))
    assert answer((case_file, seen_file)) == judge(EVERY, seen)
