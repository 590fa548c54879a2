"""What events come to: when a campaign convicts, when it acquits, and when it says neither."""

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


def test_a_hundred_that_conform_are_a_conforming_engine():
    found = tally(*(judged(n) for n in range(100)))
    assert found.verdict[0] == "conforms"
    assert {found.guarantee_verdict(promise) for promise in GUARANTEES} == {"conforms"}
    assert meaning(found).startswith(
        "No violation in 100 generated cases with failures: with 95% confidence, below 3.0%"
    )


def test_hand_written_cases_are_no_sample_and_those_without_a_failure_none_of_recovery():
    written = [judged(n, id_="paper-example") for n in range(100)]
    found = tally(*written, *(judged(n, fired=int(n < 300)) for n in range(100, 400)))
    assert "in 200 generated cases with failures" in meaning(found)
    assert "below 1.5%" in meaning(found)


@pytest.mark.parametrize("outcome", ["inconclusive", "error", "not exercised"])
def test_above_two_percent_that_say_nothing_the_rest_say_nothing(outcome):
    two, three = ([judged(n, outcome if n < most else "conforms") for n in range(100)] for most in (2, 3))
    assert tally(*two).verdict[0] == "conforms"
    assert tally(*three).verdict[0] == "inconclusive"
    assert f"3 {outcome}" in tally(*three).verdict[1]


def test_what_an_engine_does_not_support_does_not_count_against_it_nor_for_it():
    some = [judged(n, "unsupported") for n in range(50)]
    assert tally(*some, judged(50)).verdict[0] == "conforms"
    assert tally(*some).verdict[0] == "unsupported"
    assert len(tally(*some, judged(50)).exercised) == 1


def test_without_any_failure_nothing_is_known_about_recovery():
    assert tally(judged(0, fired=0)).verdict == (
        "inconclusive",
        "No failure ever fired, so nothing is known about recovery.",
    )


def test_a_violation_convicts_and_of_what_it_breaks_only():
    found = tally(judged(0), judged(1, "violates", "torn", "lost"), examined(1))
    assert found.verdict[0] == "violates"
    assert {p for p in GUARANTEES if found.guarantee_verdict(p) == "violates"} == {"no loss", "atomic epochs"}
    assert found.guarantee_verdict("order") == "conforms"
    assert meaning(found) == ""


@pytest.mark.parametrize("repeated", [None, False])
def test_a_stall_that_was_not_repeated_is_only_inconclusive(repeated):
    found = tally(judged(0), judged(1, "violates", "stalled"), examined(1, stall=repeated))
    assert found.counts() == {"conforms": 1, "inconclusive": 1}
    assert found.guarantee_verdict("liveness") == "inconclusive"


def test_one_stall_that_repeats_convicts_and_others_count_with_it():
    stalls = [judged(n, "violates", "stalled") for n in (1, 2, 3)]
    found = tally(judged(0), *stalls, examined(1, stall=True), examined(2), examined(3, stall=False))
    assert found.counts() == {"conforms": 1, "violates": 2, "inconclusive": 1}
    assert found.guarantee_verdict("liveness") == "violates"


def test_a_safety_violation_beside_a_stall_convicts_without_it():
    found = tally(judged(0, "violates", "duplicated", "stalled"), examined(0, stall=False))
    assert found.guarantee_verdict("no duplicates") == "violates"
    assert found.guarantee_verdict("liveness") != "violates"


def test_an_engine_that_was_given_up_is_in_error_unless_it_violates():
    assert tally(judged(0), GaveUp("gone")).verdict == (
        "error",
        "The engine could not be run to the end: gone",
    )
    assert tally(judged(0, "violates", "lost"), GaveUp("gone")).verdict[0] == "violates"


def test_a_campaign_that_ended_early_says_nothing_unless_something_is_wrong():
    found = tally(judged(0), CampaignEnded())
    assert found.verdict == ("inconclusive", f"Only 1 of {len(corpus()) + 1} cases were run.")
    assert tally(judged(0, "violates", "lost"), CampaignEnded()).verdict[0] == "violates"


def test_epochs_in_flight_together_are_counted_of_those_that_have_another_behind_them_where_that_is_known():
    told = [evolve(judged(n), epochs=4, overlapped=n) for n in (1, 2)]
    assert epochs([*told, evolve(judged(3), epochs=9)])["two in flight"] == {"epochs": 3, "of": 6}
    assert "two in flight" not in epochs([evolve(judged(3), epochs=9)])


def test_messages_in_flight_that_snapshots_hold_are_counted_where_that_is_known():
    told = [evolve(judged(n), in_flight=held) for n, held in enumerate((0, 40, 2))]
    assert epochs([*told, judged(3)])["saved in flight"] == {"cases": 2, "of": 3, "bytes": 42}
    assert "saved in flight" not in epochs([judged(3)])


def test_the_guarantee_of_an_engine_is_what_all_its_cases_leave():
    right = [judged(n) for n in range(98)]
    assert tally(*right).delivery_guarantee == "exactly-once"
    doubled = judged(98, "violates", "duplicated")
    assert tally(*right, doubled).delivery_guarantee == "at-least-once"
    assert tally(*right, doubled).verdict[1].endswith("The strongest guarantee left is at-least-once.")
    assert tally(*right, doubled, judged(99, "violates", "lost")).delivery_guarantee == "none"
    assert tally(*(judged(n, "error") for n in range(9))).delivery_guarantee is None
    # A stall that nobody has seen twice takes nothing away.
    assert (
        tally(*right, judged(98, "violates", "stalled"), examined(98, stall=False)).delivery_guarantee == "exactly-once"
    )
