"""Settings behind Flink's name."""

import pytest

from conformance.adapters.flink.setup import set_up
from conformance.errors import UnknownEngine
from conformance.generators import corpus


def test_the_default_is_exactly_once_with_given_epochs():
    made = set_up([])
    assert (made.mode, made.backend, made.epochs) == ("exactly-once", "hashmap", "given")
    assert made.snapshots == "aligned"
    assert made.conf("/somewhere")["execution.checkpointing.mode"] == "EXACTLY_ONCE"


def test_kills_run_on_processes_and_everything_else_embedded():
    crashing, killing = (corpus()[name] for name in ("paper-observed-execution", "snapshot-under-way"))
    assert [set_up([]).place_of(case) for case in (crashing, killing)] == ["embedded", "processes"]
    assert set_up(["embedded"]).places == set_up(["own-epochs"]).places == ("embedded",)
    assert set_up(["processes"]).place_of(crashing) == "processes"


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
