"""The codec of the control channel."""

from pathlib import Path

import pytest
from attrs import fields
from hypothesis import given
from hypothesis import strategies as st

from conformance.adapters.flink.messages import (
    STATUS_MESSAGES,
    AttemptOpened,
    AttemptOpening,
    BlockCheckpoint,
    BorderPassed,
    Command,
    DelayRestore,
    Gate,
    GateReached,
    PlayAhead,
    PlayEpoch,
    ReleaseGate,
    RollBack,
    StatusMessage,
    StatusReport,
    format_command,
    format_report,
    parse_report,
    source_name,
)
from conformance.errors import EngineFailed

NAMES = st.from_regex(r"[a-z][a-z0-9_-]{0,31}", fullmatch=True)
OPERATORS = NAMES | NAMES.map(source_name) | st.integers(0, 9).map("blocker:{}".format)
ATTEMPTS = st.from_regex(r"[0-9a-f]{12}", fullmatch=True)
NUMBERS = st.integers(0, 10**6)
GATES = st.sampled_from(Gate)

STATUS = st.one_of(
    st.builds(AttemptOpening, OPERATORS, ATTEMPTS),
    st.builds(AttemptOpened, OPERATORS, ATTEMPTS),
    st.builds(BorderPassed, OPERATORS, ATTEMPTS, NUMBERS),
    st.builds(GateReached, OPERATORS, ATTEMPTS, GATES, NUMBERS),
)
COMMAND = st.one_of(
    st.builds(PlayEpoch, NUMBERS),
    st.builds(PlayAhead, ATTEMPTS, NUMBERS),
    st.builds(RollBack, ATTEMPTS),
    st.builds(ReleaseGate, ATTEMPTS, GATES, NUMBERS),
    st.builds(BlockCheckpoint, ATTEMPTS, NUMBERS),
    st.builds(DelayRestore),
)


@given(STATUS, st.integers(0, 2**40))
def test_a_status_message_is_one_line_that_parses_to_itself(message, ticks):
    report = StatusReport(ticks / 64, message)
    line = format_report(report)
    assert line.isascii()
    assert len(line.splitlines()) == 1
    assert parse_report(line).message == message
    assert parse_report(line).time == pytest.approx(report.time, abs=1e-4)


@given(COMMAND)
def test_a_command_is_a_file_name(command):
    name = format_command(command)
    assert "/" not in name
    assert len(name) <= 255


@given(COMMAND, COMMAND)
def test_different_commands_have_different_file_names(one, two):
    assert (format_command(one) == format_command(two)) == (one == two)


def messages(base):
    """Find the classes of messages below a base class; a base class of several has no kind."""
    for each in base.__subclasses__():
        yield from messages(each)
        if "kind" in vars(each):
            yield each


def test_every_kind_belongs_to_one_message():
    assert {each.kind: each for each in messages(StatusMessage)} == STATUS_MESSAGES
    kinds = [each.kind for base in (StatusMessage, Command) for each in messages(base)]
    assert len(set(kinds)) == len(kinds) == 10


def test_the_page_on_the_control_channel_lists_every_message_with_its_fields():
    page = (Path(__file__).parents[2] / "docs" / "engines" / "flink-control-channel.md").read_text()
    for base, first, separator in ((StatusMessage, ["TIME"], " "), (Command, [], ".")):
        for each in messages(base):
            written = separator.join([*first, each.kind, *(field.name.upper() for field in fields(each))])
            assert f"| `{each.__name__}` | `{written}` |" in page
    assert [gate for gate in Gate if f"`{gate}`" not in page] == []


@pytest.mark.parametrize(
    "line", ["", "0.5", "0.5 opened t", "now opened t a", "0.5 unknown t a", "0.5 border-passed t a b"]
)
def test_a_malformed_line_is_refused(line):
    with pytest.raises(EngineFailed, match="no status message"):
        parse_report(line)


@pytest.mark.parametrize("operator", ["", "two words", "line\nbreak"])
def test_an_operator_name_that_would_break_a_line_is_refused(operator):
    with pytest.raises(ValueError, match="operator"):
        AttemptOpened(operator, "a")
