"""How far a campaign is."""

from conformance.cli.progress import FEW, Throughput


def test_the_remaining_time_is_shown_after_a_few_cases():
    rate = Throughput()
    rate.tick()
    assert rate.remaining(1000) == "too early to say how long"
    for _ in range(FEW):
        rate.tick()
    assert rate.remaining(1000).endswith(" left")
    assert Throughput().remaining(FEW - 1).endswith(" left"), "few there are in all"
