"""The tally: when a campaign convicts an engine, acquits it, or is inconclusive."""

import pytest
from attrs import evolve

from conformance.campaign.certificate import epochs, meaning
from conformance.campaign.events import GUARANTEES, CampaignEnded, Examined, FailureRate, GaveUp, Judged
from conformance.campaign.tally import Tally
from conformance.generators import corpus
from conformance.judge.verdict import Finding
from tests.campaign.test_journal import began


def judged(index, outcome="conforms", *diagnoses, fired=1, id_=None):
    findings = tuple(Finding(diagnosis, "because") for diagnosis in diagnoses)
    return Judged(index, id_ or f"generated-{index:05}", "d", outcome, fired=fired, findings=findings)


def examined(index, stall=None):
    return Examined(index, FailureRate(1, 1), "violates", "conforms", stall=stall)


def tally(*events):
    return Tally.of([began(), *events])


def test_an_engine_conforms_if_all_cases_do():
    found = tally(*(judged(n) for n in range(100)))
    assert found.verdict[0] == "conforms"
    assert {found.guarantee_verdict(guarantee) for guarantee in GUARANTEES} == {"conforms"}
    assert meaning(found).startswith(
        "No violation in 100 generated cases with failures: with 95% confidence, below 3.0%"
    )


def test_only_generated_cases_with_failures_are_a_sample():
    written = [judged(n, id_="paper-example") for n in range(100)]
    found = tally(*written, *(judged(n, fired=int(n < 300)) for n in range(100, 400)))
    assert "in 200 generated cases with failures" in meaning(found)
    assert "below 1.5%" in meaning(found)


@pytest.mark.parametrize("outcome", ["inconclusive", "error", "not exercised"])
def test_more_than_two_percent_without_a_verdict_are_inconclusive(outcome):
    two, three = ([judged(n, outcome if n < most else "conforms") for n in range(100)] for most in (2, 3))
    assert tally(*two).verdict[0] == "conforms"
    assert tally(*three).verdict[0] == "inconclusive"
    assert f"3 {outcome}" in tally(*three).verdict[1]


def test_unsupported_cases_do_not_count():
    some = [judged(n, "unsupported") for n in range(50)]
    assert tally(*some, judged(50)).verdict[0] == "conforms"
    assert tally(*some).verdict[0] == "unsupported"
    assert len(tally(*some, judged(50)).exercised) == 1


def test_a_campaign_without_failures_is_inconclusive():
    assert tally(judged(0, fired=0)).verdict == (
        "inconclusive",
        "No failure ever fired, so nothing is known about recovery.",
    )


def test_a_violation_convicts_of_the_guarantees_it_breaks_only():
    found = tally(judged(0), judged(1, "violates", "torn", "lost"), examined(1))
    assert found.verdict[0] == "violates"
    assert {each for each in GUARANTEES if found.guarantee_verdict(each) == "violates"} == {"no loss", "atomic epochs"}
    assert found.guarantee_verdict("order") == "conforms"
    assert meaning(found) == ""


@pytest.mark.parametrize("repeated", [None, False])
def test_a_stall_that_does_not_repeat_is_inconclusive(repeated):
    found = tally(judged(0), judged(1, "violates", "stalled"), examined(1, stall=repeated))
    assert found.counts() == {"conforms": 1, "inconclusive": 1}
    assert found.guarantee_verdict("liveness") == "inconclusive"


def test_a_deadline_within_which_nothing_ends_is_named():
    found = tally(judged(0, "violates", "stalled"), examined(0, stall=False))
    assert found.verdict[0] == "inconclusive"
    assert found.verdict[1].endswith("1 did not end within --deadline 60, which may be too short.")


def test_one_stall_that_repeats_convicts_and_others_count_with_it():
    stalls = [judged(n, "violates", "stalled") for n in (1, 2, 3)]
    found = tally(judged(0), *stalls, examined(1, stall=True), examined(2), examined(3, stall=False))
    assert found.counts() == {"conforms": 1, "violates": 2, "inconclusive": 1}
    assert found.guarantee_verdict("liveness") == "violates"


def test_a_safety_violation_beside_a_stall_convicts_without_it():
    found = tally(judged(0, "violates", "duplicated", "stalled"), examined(0, stall=False))
    assert found.guarantee_verdict("no duplicates") == "violates"
    assert found.guarantee_verdict("liveness") != "violates"


def test_a_campaign_that_gave_up_is_an_error_unless_it_violates():
    assert tally(judged(0), GaveUp("gone")).verdict == (
        "error",
        "The engine could not be run to the end: gone",
    )
    assert tally(judged(0, "violates", "lost"), GaveUp("gone")).verdict[0] == "violates"


def test_a_campaign_that_ended_early_is_inconclusive_unless_it_violates():
    found = tally(judged(0), CampaignEnded())
    assert found.verdict == ("inconclusive", f"Only 1 of {len(corpus()) + 1} cases were run.")
    assert tally(judged(0, "violates", "lost"), CampaignEnded()).verdict[0] == "violates"


def test_overlapping_epochs_are_counted_of_those_with_a_successor():
    told = [evolve(judged(n), epochs=4, overlapped=n) for n in (1, 2)]
    assert epochs([*told, evolve(judged(3), epochs=9)])["two in flight"] == {"epochs": 3, "of": 6}
    assert "two in flight" not in epochs([evolve(judged(3), epochs=9)])


def test_in_flight_messages_in_snapshots_are_counted_if_known():
    told = [evolve(judged(n), in_flight=held) for n, held in enumerate((0, 40, 2))]
    assert epochs([*told, judged(3)])["saved in flight"] == {"cases": 2, "of": 3, "bytes": 42}
    assert "saved in flight" not in epochs([judged(3)])


def test_the_delivery_guarantee_is_the_strongest_that_all_cases_keep():
    right = [judged(n) for n in range(98)]
    assert tally(*right).delivery_guarantee == "exactly-once"
    doubled = judged(98, "violates", "duplicated")
    assert tally(*right, doubled).delivery_guarantee == "at-least-once"
    assert tally(*right, doubled).verdict[1].endswith("The strongest guarantee left is at-least-once.")
    assert tally(*right, doubled, judged(99, "violates", "lost")).delivery_guarantee == "none"
    assert tally(*(judged(n, "error") for n in range(9))).delivery_guarantee is None
    # A stall that did not repeat does not weaken the guarantee.
    assert (
        tally(*right, judged(98, "violates", "stalled"), examined(98, stall=False)).delivery_guarantee == "exactly-once"
    )
