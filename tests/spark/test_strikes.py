"""How a failure is noted by whoever strikes, without Spark."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from conformance.adapters.spark.operators import STRUCK, Injected, Strikes
from conformance.case import Crash


@pytest.fixture
def strikes(tmp_path):
    (tmp_path / STRUCK).mkdir()
    return Strikes(str(tmp_path), 0, (Crash("t", 1, 0),))


def test_each_failure_strikes_once(strikes):
    with pytest.raises(Injected, match="t in epoch 1, before event 0"):
        strikes.at("t", 1, 0, 0)
    strikes.at("t", 1, 0, 0)


def test_whoever_looks_finds_all_the_words_or_no_file(strikes):
    words = "word " * 100_000
    with ThreadPoolExecutor(1) as other:
        noted = other.submit(strikes.note, 0, words)
        while not strikes.place(0).exists():
            pass
        assert strikes.place(0).read_text() == words
        assert noted.result()


def test_of_two_who_strike_at_once_one_does_and_nothing_else_is_left(strikes):
    with ThreadPoolExecutor(8) as several:
        noted = list(several.map(lambda n: strikes.note(0, str(n)), range(8)))
    assert noted.count(True) == 1
    assert strikes.place(0).read_text() == str(noted.index(True))
    assert [each.name for each in strikes.place(0).parent.iterdir()] == ["0-0"]
