"""The committed epochs of an engine, read from its durable state."""

import json
import sqlite3
from contextlib import closing
from functools import partial

import pytest

from conformance.adapters.bytewax import BytewaxEngine
from conformance.adapters.bytewax import store as recovery
from conformance.adapters.pathway import PathwayEngine
from conformance.adapters.pathway import store as persistence
from conformance.adapters.pathway.library import OUTPUT, PROGRESS, STORE, PathwayLibrary
from conformance.errors import EngineFailed, EngineUnavailable, UnknownEngine


@pytest.fixture
def bytewax_store(tmp_path):
    """Write rows into Bytewax's tables; return the committed epochs of two sources."""
    with closing(sqlite3.connect(tmp_path / recovery.PARTITION)) as made, made:
        made.execute("create table exs (ex_num integer, worker_count integer, resume_epoch integer)")
        made.execute("create table fronts (ex_num integer, worker_index integer, worker_frontier integer)")
        made.execute("create table snaps (step_id text, state_key text, snap_epoch integer, ser_change blob)")

    def committed(table=None, *rows):
        with closing(sqlite3.connect(tmp_path / recovery.PARTITION)) as store, store:
            for row in rows:
                store.execute(f"insert into {table} values ({', '.join('?' * len(row))})", row)  # noqa: S608
        return recovery.committed_epochs(tmp_path, ("a", "b"))

    return committed


def saved(source, epoch, position):
    return (f"case.source-{source}", source, epoch, b"\x80\x04" + recovery.POSITION.format(position).encode() + b".")


def test_bytewax_resumes_at_the_smallest_frontier_of_its_newest_execution(bytewax_store):
    assert bytewax_store() == 0
    assert bytewax_store("exs", (0, 2, 1)) == 0
    bytewax_store("snaps", *(saved(source, epoch, epoch) for source in "ab" for epoch in (1, 2, 3)))
    assert bytewax_store() == 0
    assert bytewax_store("fronts", (0, 0, 3)) == 0  # The other worker has no frontier yet.
    assert bytewax_store("fronts", (0, 1, 4)) == 2


def test_an_execution_without_a_frontier_resumes_where_it_began(bytewax_store):
    bytewax_store("exs", (0, 1, 1), (1, 1, 3))
    bytewax_store("fronts", (0, 0, 9))
    bytewax_store("snaps", *(saved(source, epoch, epoch) for source in "ab" for epoch in (1, 2, 3)))
    assert bytewax_store() == 2


def test_the_source_with_the_smallest_position_counts(bytewax_store):
    bytewax_store("exs", (0, 1, 1))
    bytewax_store("fronts", (0, 0, 8))
    assert bytewax_store("snaps", saved("a", 3, 3)) == 0
    assert bytewax_store("snaps", saved("b", 3, 2)) == 2
    assert bytewax_store("snaps", saved("ab", 4, 9)) == 2


def test_the_recovery_store_is_read_in_one_transaction(bytewax_store, tmp_path, monkeypatch):
    with closing(sqlite3.connect(tmp_path / recovery.PARTITION)) as store:
        store.execute("pragma journal_mode = wal")
    bytewax_store("exs", (0, 1, 1))
    bytewax_store("fronts", (0, 0, 3))
    bytewax_store("snaps", saved("a", 2, 2), saved("b", 2, 2))

    class Overtaken(sqlite3.Connection):
        """Between two of our queries, Bytewax finishes an epoch and deletes the epoch before it."""

        def execute(self, query, *values):
            answer = super().execute(query, *values)
            if query.startswith("select worker_frontier"):
                with closing(sqlite3.connect(tmp_path / recovery.PARTITION)) as store, store:
                    store.execute("update fronts set worker_frontier = 4")
                    store.execute("delete from snaps")
                    store.executemany("insert into snaps values (?, ?, ?, ?)", [saved("a", 3, 3), saved("b", 3, 3)])
            return answer

    monkeypatch.setattr(recovery.sqlite3, "connect", partial(sqlite3.connect, factory=Overtaken))
    during = recovery.committed_epochs(tmp_path, ("a", "b"))
    monkeypatch.undo()
    assert during == 2
    assert recovery.committed_epochs(tmp_path, ("a", "b")) == 3


@pytest.fixture
def pathway_store(tmp_path):
    """Write files of Pathway and of the dataflow into a run's folder; return the committed epochs."""
    PathwayLibrary().prepare(tmp_path)

    def write(name, content):
        (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps(content))
        return persistence.committed_epochs(tmp_path / STORE, tmp_path / PROGRESS)

    return write


def advanced(to):
    return {"last_advanced_timestamp": to, "total_workers": 1}


def test_epochs_before_the_time_of_the_newest_version_are_final(pathway_store):
    assert pathway_store(f"{STORE}/1-0-0", advanced({"At": 15})) == 0
    assert pathway_store(f"{PROGRESS}/started-0", {"after": 0, "version": 0}) == 0
    assert pathway_store(f"{PROGRESS}/times-0", "[1, 10]\n[2, 15]\n") == 1
    assert pathway_store(f"{STORE}/1-0-1", advanced({"At": 20})) == 2
    assert pathway_store(f"{STORE}/1-0-0", "half a f") == 2
    # Another run begins. Its metadata and that of the run before are independent.
    assert pathway_store(f"{STORE}/2-0-0", advanced({"At": 99})) == 2
    assert pathway_store(f"{PROGRESS}/started-1", {"after": 2, "version": 1}) == 2
    assert pathway_store(f"{PROGRESS}/times-1", "[3, 99]\n") == 2
    assert pathway_store(f"{STORE}/2-0-1", advanced("Done")) == 3


def test_the_output_of_all_pathway_attempts_is_read_in_their_order(tmp_path, pathway_store):
    row = {"epoch": 1, "seq": 0, "value": "7", "diff": 1, "time": 10}
    for attempt in (0, 2, 10):
        pathway_store(f"{OUTPUT}/out.{attempt}", json.dumps(row | {"epoch": attempt}) + "\n")
    assert list(PathwayLibrary().rows(tmp_path, "out")) == [(0, 7), (2, 7), (10, 7)]
    pathway_store(f"{OUTPUT}/out.11", json.dumps(row | {"diff": -1}) + "\n")
    with pytest.raises(EngineFailed, match="takes back a row of out"):
        list(PathwayLibrary().rows(tmp_path, "out"))


def test_unknown_settings_are_refused():
    BytewaxEngine(["append", "two-workers"])
    with pytest.raises(UnknownEngine, match="bytewax has no setting 'fast'; it has file, append, two-workers"):
        BytewaxEngine(["fast"])
    with pytest.raises(UnknownEngine, match="bytewax has one sink: file or append"):
        BytewaxEngine(["file", "append"])
    with pytest.raises(UnknownEngine, match="pathway has no setting 'fast'; it has none"):
        PathwayEngine(["fast"])


@pytest.mark.parametrize(("make", "name"), [(BytewaxEngine, "bytewax"), (PathwayEngine, "pathway")])
def test_a_missing_package_is_reported_with_how_to_install_it(make, name, monkeypatch):
    monkeypatch.setattr("conformance.adapters.embedded.version", missing)
    engine = make([])
    with pytest.raises(EngineUnavailable, match=rf"{name} is not installed.*pip install .*\[{name}\].*Python 3"):
        engine.start()
    engine.stop()


def missing(name):
    from importlib.metadata import PackageNotFoundError  # noqa: PLC0415

    raise PackageNotFoundError(name)
