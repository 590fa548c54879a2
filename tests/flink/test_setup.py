"""Settings behind Flink's name."""

import pytest

from conformance.adapters.flink.setup import set_up
from conformance.errors import UnknownEngine


def test_the_default_is_exactly_once_with_given_epochs_in_a_mini_cluster():
    made = set_up([])
    assert (made.place, made.mode, made.backend, made.epochs) == ("embedded", "exactly-once", "hashmap", "given")
    assert made.snapshots == "aligned"
    assert made.conf("/somewhere")["execution.checkpointing.mode"] == "EXACTLY_ONCE"


@pytest.mark.parametrize("settings", [["nothing"], ["rocksdb", "hashmap"], ["unaligned", "at-least-once"]])
def test_unknown_and_contradicting_settings_are_refused(settings):
    with pytest.raises(UnknownEngine, match=settings[-1]):
        set_up(settings)


def test_unaligned_checkpoints_are_claimed_as_such_unless_asked_otherwise():
    assert set_up(["unaligned"]).snapshots == "unaligned"
    assert set_up(["unaligned", "claimed-aligned"]).snapshots == "aligned"


def test_flink_takes_checkpoints_by_itself_only_with_own_epochs():
    given, own = (set_up([word]).conf("/x")["execution.checkpointing.interval"] for word in ("hashmap", "own-epochs"))
    assert int(given) > 1_000_000 > int(own.removesuffix(" ms"))
