"""What operators and whoever drives them leave for each other."""

from concurrent.futures import ThreadPoolExecutor

from conformance.adapters.flink.control import SLOWLY, Desk, Progress


def desk(tmp_path, case=0):
    made = Desk(str(tmp_path), case)
    made.prepare()
    return made


def test_what_an_operator_did_before_it_was_opened_again_no_longer_counts(tmp_path):
    here = desk(tmp_path)
    progress = Progress(here)
    here.note("open", "t", "first")
    here.note("border", "t", "first", 2)
    progress.look()
    assert progress.passed == {"t": 2}
    here.note("begins", "t", "first", 3)
    here.note("open", "t", "second")
    here.note("border", "t", "first", 3)
    progress.look()
    assert progress.passed == {}
    assert progress.waiting == {}
    assert progress.me == {"t": "second"}


def test_a_line_that_is_being_written_is_read_when_it_is_whole(tmp_path):
    here = desk(tmp_path)
    here.note("open", "t", "me")
    notes, after = here.notes(0)
    with (tmp_path / "notes" / "0-all").open("a") as file:
        file.write("border t me")
    assert here.notes(after) == ([], after)
    with (tmp_path / "notes" / "0-all").open("a") as file:
        file.write(" 1 0.5\n")
    assert [(note.what, note.epoch) for note in notes + here.notes(after)[0]] == [("open", 0), ("border", 1)]


def test_who_waits_is_let_go_by_name(tmp_path):
    here = desk(tmp_path)
    progress = Progress(here)
    here.note("open", "t", "me")
    here.note("borders", "t", "me", 1)
    progress.look()
    assert not here.is_marked("borders-me-1")
    progress.let("t", "borders")
    assert here.is_marked("borders-me-1")
    assert not desk(tmp_path, case=1).is_marked("borders-me-1")


def test_a_failure_strikes_once_however_many_try(tmp_path):
    here = desk(tmp_path)
    assert not here.has_struck(0)
    with ThreadPoolExecutor(8) as threads:
        struck = list(threads.map(lambda number: here.strike(0, f"try {number}"), range(50)))
    assert sum(struck) == 1
    _, evidence = here.struck(0)
    assert evidence == f"try {struck.index(True)}"


def test_an_operator_that_is_to_take_its_time_says_so_and_begins_when_it_need_not_any_more(tmp_path):
    here = desk(tmp_path)
    progress = Progress(here)
    here.mark(SLOWLY)
    with ThreadPoolExecutor(1) as thread:
        opened = thread.submit(here.opened, "t")
        while not progress.opening:
            progress.look()
        assert not opened.done()
        assert progress.me == {}
        here.unmark(SLOWLY)
        me = opened.result()
    progress.look()
    assert progress.opening == {}
    assert progress.me == {"t": me}


def test_an_operator_stands_still_until_it_is_let_go(tmp_path):
    here = desk(tmp_path)
    progress = Progress(here)
    with ThreadPoolExecutor(1) as thread:
        me = here.opened("t")
        waits = thread.submit(here.wait, "brakes", "t", me, 3)
        while not progress.waiting:
            progress.look()
        assert progress.waiting["t", "brakes"][:2] == (me, 3)
        progress.let("t", "brakes")
        waits.result()
