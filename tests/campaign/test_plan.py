"""The plan of a campaign: which cases it runs."""

import pickle
from itertools import islice, product

import pytest
from attrs import evolve

from conformance.campaign.plan import PROFILES, Plan, kills
from conformance.campaign.shrink import smallest
from conformance.case import PHASES, TARGETS, Kill
from conformance.codec import digest
from conformance.engine import Capabilities
from conformance.generators import corpus
from conformance.settings import PROFILE_NAMES


def test_the_corpus_comes_first_then_the_generated_cases():
    planned = list(Plan())
    ids = [each.id for each in planned]
    assert ids[: len(corpus())] == list(corpus())
    assert ids[len(corpus()) :] == [f"generated-{n:05}" for n in range(1, 101)]
    assert [each.index for each in planned] == list(range(len(planned)))
    assert len(Plan()) == len(planned)
    assert {name: PROFILES[name].cases for name in PROFILE_NAMES} == {"quick": 100, "standard": 1_000, "deep": 10_000}
    assert len(PROFILES) == len(PROFILE_NAMES)


def test_the_quick_profile_kills_at_most_five_times():
    generated = [each.case for each in Plan() if each.draw_number is not None]
    assert sum(bool(kills(case)) for case in generated) == 5
    standard = Plan("standard", 100)
    assert sum(bool(kills(each.case)) for each in standard) > 20


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("failures", [["crash", "kill"], ["crash", "kill:coordinator", "kill:worker:snapshot"]])
def test_the_quick_profile_kills_every_target_in_every_phase(failures, seed):
    can = Capabilities(failures=failures)
    possible = {kill for kill in product(TARGETS, PHASES) if can.can_inject(Kill(kill[0], 1, kill[1]))}
    planned = [each.case for each in Plan(seed=seed, capabilities=can) if not can.unsupported(each.case)]
    assert {kill for case in planned for kill in kills(case)} == possible


@pytest.mark.parametrize("failures", [["crash"], ["crash", "restart"], ["crash", "kill", "partition"]])
@pytest.mark.parametrize("profile", ["quick", "standard"])
def test_one_generated_case_in_ten_is_a_control(profile, failures):
    plan = Plan(profile, 50, capabilities=Capabilities(failures=failures))
    assert sum(not each.case.failures for each in plan if each.draw_number is not None) == 5


def test_all_cases_of_an_engine_that_cannot_fail_are_controls():
    plan = Plan(generated=10, capabilities=Capabilities(failures=[]))
    assert [each.case.failures for each in plan if each.draw_number is not None] == [()] * 10


def test_an_engine_that_only_kills_can_fail_gets_controls_behind_its_kills():
    plan = Plan(generated=20, capabilities=Capabilities(failures=["kill:worker"]))
    assert sum(bool(each.case.failures) for each in plan if each.draw_number is not None) == 5


def test_a_quarter_of_the_cases_are_observed_at_their_sinks_only():
    planned = list(Plan(generated=22))
    assert sum(each.sinks_only for each in planned) == len(planned) // 4
    for each in planned:
        graph = each.case.graph
        assert each.request(1.0).streams == frozenset(graph.sinks if each.sinks_only else graph.streams)


def test_a_plan_gives_the_same_cases_in_another_process():
    plan = Plan("standard", 30, seed=7, capabilities=Capabilities(failures=["crash"]))
    again = pickle.loads(pickle.dumps(evolve(plan)))  # noqa: S301 - ours
    assert [digest(each.case) for each in plan] == [digest(each.case) for each in again]
    assert all(again.capabilities.unsupported(each.case) == () for each in again if each.draw_number is not None)


def test_a_generated_case_shrinks_from_the_bytes_it_was_made_of():
    plan = Plan(generated=10)
    planned = next(each for each in islice(plan, len(corpus()), None) if len(each.case.graph.tasks) > 2)
    tried = []

    def fails(case):
        tried.append(case)
        return len(case.graph.tasks) > 1

    found = smallest(plan.strategy, plan.numbered.entropy(planned.draw_number), fails)
    assert digest(tried[0]) == digest(planned.case)
    assert len(found.graph.tasks) == 2
    assert found.epochs == 1
    assert not any(event for epochs in found.inputs.values() for event in epochs)
    assert smallest(plan.strategy, plan.numbered.entropy(planned.draw_number), lambda _: False) is None
