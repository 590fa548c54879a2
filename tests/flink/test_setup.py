"""What the settings behind Flink's name mean."""

import pytest

from conformance.adapters.flink.setup import set_up
from conformance.errors import UnknownEngine


def test_exactly_once_with_given_epochs_in_this_process_is_what_one_gets():
    made = set_up([])
    assert (made.place, made.mode, made.backend, made.epochs) == ("embedded", "exactly-once", "hashmap", "given")
    assert made.snapshots == "aligned"
    assert made.conf("/somewhere")["execution.checkpointing.mode"] == "EXACTLY_ONCE"


@pytest.mark.parametrize("words", [["nothing"], ["rocksdb", "hashmap"], ["unaligned", "at-least-once"]])
def test_unknown_and_contradicting_settings_are_refused(words):
    with pytest.raises(UnknownEngine, match=words[-1]):
        set_up(words)


def test_unaligned_checkpoints_are_claimed_as_such_unless_it_is_asked_to_lie():
    assert set_up(["unaligned"]).snapshots == "unaligned"
    assert set_up(["unaligned", "claimed-aligned"]).snapshots == "aligned"


def test_checkpoints_come_by_themselves_only_where_the_borders_are_flinks_own():
    given, own = (set_up([word]).conf("/x")["execution.checkpointing.interval"] for word in ("hashmap", "own-epochs"))
    assert int(given) > 1_000_000 > int(own.removesuffix(" ms"))
