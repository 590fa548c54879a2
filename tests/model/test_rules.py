"""The rules, one sentence each."""

from hypothesis import given

from conformance.case import Case, Graph, Task
from conformance.model.configuration import BD, RECOVER, Log, Rule, Step, initial
from conformance.model.rules import CONSUME, PRODUCE, apply, border, event, fail, labelled_successor, ready, successor
from conformance.model.snapshot import committed, gce, lcs, observed, out
from conformance.model.trace import configurations, last
from conformance.programs import Digest, Repeat, Sum
from tests.small import runs

JOIN = Case(
    Graph(("a", "b"), (Task("t", ("a", "b"), "x", Sum()),)),
    {"a": ((1,), (2,)), "b": ((), (3,))},
)
CHAIN = Case(
    Graph(("a",), (Task("t", ("a",), "x", Sum()), Task("u", ("x",), "y", Digest()))),
    {"a": ((1,), (2,))},
)


def on(task, stream):
    return Step(Rule.EVENT, task, stream)


def at(task):
    return Step(Rule.BORDER, task)


def failing(task):
    return Step(Rule.FAIL, task)


def test_an_event_is_taken_folded_and_its_output_appended():
    c = initial(JOIN)
    actions, after = labelled_successor(c, on("t", "a"))
    assert actions == [(CONSUME, "a", (1, 1)), (PRODUCE, "x", (1, 1))]
    assert after.states["t"] == (Log.of(0), (1, 1))
    assert after.numbers["t"] == {"a": 1, "b": 0, "x": 1}
    assert list(after.messages["x"]) == [(1, 1)]
    assert after.messages["a"] == c.messages["a"], "reading removes nothing"


def test_an_event_may_emit_nothing_or_several():
    case = Case(Graph(("a",), (Task("t", ("a",), "x", Repeat(2)), Task("u", ("a",), "y", Repeat(0)))), {"a": ((5,),)})
    c = last(initial(case), [on("t", "a"), on("u", "a")])
    assert list(c.messages["x"]) == [(1, 5), (1, 5)]
    assert list(c.messages["y"]) == []


def test_a_border_snapshots_the_state_and_moves_to_the_next_epoch():
    c = last(initial(JOIN), [on("t", "a"), at("t")])
    assert c.states["t"] == (Log.of(0, 1), (2, 1))
    assert list(c.messages["x"]) == [(1, 1), (1, BD)]
    assert c.numbers["t"] == {"a": 2, "b": 1, "x": 2}


def test_a_lagging_input_blocks_the_border():
    c = initial(JOIN)
    assert successor(c, at("t")) is None
    assert successor(successor(c, on("t", "a")), at("t")) is not None


def test_an_input_at_its_border_blocks_until_all_are():
    c = initial(JOIN)
    assert successor(c, on("t", "b")) is None, "b is at the border of epoch 1, and its event of epoch 2 stays behind it"
    assert ready(c, "t") == (on("t", "a"),)


def test_a_task_waits_for_messages_that_are_not_there_yet():
    c = initial(CHAIN)
    assert ready(c, "u") == ()
    assert successor(c, on("u", "x")) is None
    assert successor(c, at("u")) is None


def test_a_failed_task_does_nothing_but_fail_again():
    c = successor(initial(JOIN), failing("t"))
    assert c.failed == ("t",)
    assert ready(c, "t") == ()
    assert event(c.dataflow.processors["t"], c.states["t"], "a", (1, 1)) is None
    assert border(c.dataflow.processors["t"], c.states["t"]) is None
    assert successor(c, failing("t")) == c


def test_failing_keeps_the_archive():
    archive = Log.of(0, 1)
    assert fail((archive, (2, 5))) == ([], (archive, None))


def test_nothing_recovers_where_nothing_has_failed():
    assert successor(initial(JOIN), RECOVER) is None


def test_recovery_goes_back_to_the_common_epoch_and_forgets_what_came_after():
    steps = [on("t", "a"), at("t"), on("u", "x"), at("u"), on("t", "a"), at("t"), on("u", "x")]
    c = last(initial(CHAIN), steps)
    assert gce(c) == 1
    recovered = last(c, [failing("u"), RECOVER])
    assert recovered == last(initial(CHAIN), steps[:4])
    assert recovered.messages["a"] == c.messages["a"], "the input is kept, to be replayed"


def test_recovery_before_the_first_commit_starts_again():
    c = last(initial(CHAIN), [on("t", "a"), at("t"), on("u", "x"), failing("t"), RECOVER])
    assert c == initial(CHAIN)


def test_a_consumer_reads_at_its_own_pace():
    case = Case(Graph(("a",), (Task("t", ("a",), "x", Sum()), Task("u", ("a",), "y", Sum()))), {"a": ((1, 2),)})
    c = last(initial(case), [on("t", "a"), on("t", "a"), on("u", "a")])
    assert c.numbers["t"]["a"] == 2
    assert c.numbers["u"]["a"] == 1


def test_an_undefined_action_makes_the_whole_sequence_undefined():
    c = initial(JOIN)
    assert apply([(CONSUME, "a", (1, 1)), (CONSUME, "b", (1, 7))], c.numbers["t"], c.messages) is None
    assert apply([], c.numbers["t"], c.messages) == (c.numbers["t"], c.messages)


def test_out_shows_every_stream_up_to_the_common_epoch():
    c = last(initial(CHAIN), [on("t", "a"), at("t"), on("u", "x")])
    assert observed(c) == {"a": (), "x": (), "y": ()}
    c = last(c, [at("u"), on("t", "a")])
    assert observed(c) == {"a": ((1,),), "x": ((1,),), "y": ((219,),)}
    assert (1, "a", (1, BD)) in out(c)
    assert (2, "x", (2, 3)) in c.message_set() - out(c)


def test_an_old_log_does_not_see_what_was_appended_to_it():
    old = Log.of(1)
    one, other = old.append(2), old.append(3)
    assert (list(old), list(one), list(other)) == ([1], [1, 2], [1, 3])
    assert one.first(1) == old
    assert hash(one.first(1)) == hash(old)
    assert list(one.first(1).append(9)) == [1, 9]
    assert list(one) == [1, 2]


@given(runs())
def test_ready_says_without_computing_what_stepping_says(run):
    case, trace = run
    for c in configurations(initial(case), trace):
        for name, processor in c.dataflow.processors.items():
            possible = [step for step in (*processor.events, processor.border) if successor(c, step) is not None]
            assert list(ready(c, name)) == possible


@given(runs())
def test_what_is_committed_is_a_prefix_of_every_stream(run):
    case, trace = run
    for c in configurations(initial(case), trace):
        for stream, log in c.messages.items():
            of_stream = [message for message in out(c) if message[1] == stream]
            assert committed(log, gce(c)) == len(of_stream)
            assert {n for n, _, _ in of_stream} == set(range(len(of_stream)))


@given(runs())
def test_the_snapshot_is_what_its_definition_says(run):
    case, trace = run
    for c in configurations(initial(case), trace):
        snapshot, epoch, shown = lcs(c), gce(c), out(c)
        initially = {(n, s, d) for s, log in c.dataflow.initial.items() for n, d in enumerate(log)}
        assert snapshot.message_set() == initially | shown
        for name, (archive, volatile) in snapshot.states.items():
            assert list(archive) == list(c.states[name][0])[: epoch + 1]
            assert volatile == (epoch + 1, archive[epoch])
            for stream, number in snapshot.numbers[name].items():
                assert number == sum(message[1] == stream for message in shown)
