"""Merging several cases into one."""

from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.adapters.reference import Reference
from conformance.campaign.merge import merge
from conformance.codec import read_case
from conformance.engine import RunRequest
from conformance.generators import cases, corpus
from conformance.judge import Conforms, judge


@settings(max_examples=30)
@given(st.lists(cases(), min_size=1, max_size=3))
def test_a_merged_case_has_all_parts_and_conforms(given_cases):
    one = merge(given_cases)
    assert len(one.graph.tasks) == sum(len(case.graph.tasks) for case in given_cases)
    assert len(one.failures) == sum(len(case.failures) for case in given_cases)
    assert len(one.holds) == sum(len(case.holds) for case in given_cases)
    for number, case in enumerate(given_cases):
        for source, epochs in case.inputs.items():
            given_epochs = one.inputs[f"c{number}-{source}"]
            assert given_epochs[: case.epochs] == tuple(epochs)
            assert not any(given_epochs[case.epochs :])
    (seen,) = Reference([]).run([RunRequest(one)])
    assert isinstance(judge(one, seen), Conforms)


def test_each_case_keeps_the_order_of_its_failures():
    with_failures = [case for case in corpus().values() if len(case.failures) > 1]
    one = merge(with_failures)
    for number, case in enumerate(with_failures):
        kept = [f.epoch for f in one.failures if getattr(f, "task", "").startswith(f"c{number}-")]
        assert kept == [f.epoch for f in case.failures if hasattr(f, "task")]


def test_names_that_would_get_too_long_become_numbers():
    case = next(iter(corpus().values()))
    (task, *others) = case.graph.tasks
    long = evolve(case, graph=evolve(case.graph, tasks=(evolve(task, name="t" * 32), *others)), failures=(), holds=())
    assert merge([long, long]).graph.tasks[0].name == "c0-0"


def test_a_merged_case_can_be_written_and_read(tmp_path):
    from conformance.codec import write_case  # noqa: PLC0415

    case = corpus()["paper-observed-execution"]
    write_case(tmp_path / "one.json", merge([case]))
    assert read_case(tmp_path / "one.json") == merge([case])
