"""The codec of the control channel."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.adapters.flink.messages import (
    COMMANDS,
    STATUS_MESSAGES,
    AttemptOpened,
    AttemptOpening,
    BlockCheckpoint,
    BorderPassed,
    DelayRestore,
    Gate,
    GateReached,
    PlayAhead,
    PlayEpoch,
    ReleaseGate,
    RollBack,
    StatusReport,
    format_command,
    format_report,
    parse_command,
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
def test_a_command_is_a_file_name_that_parses_to_itself(command):
    name = format_command(command)
    assert "/" not in name
    assert len(name) <= 255
    assert parse_command(name) == command


@given(COMMAND, COMMAND)
def test_different_commands_have_different_file_names(one, two):
    assert (format_command(one) == format_command(two)) == (one == two)


def test_every_kind_belongs_to_one_message():
    kinds = [*STATUS_MESSAGES, *COMMANDS]
    assert len(set(kinds)) == len(kinds) == 10


@pytest.mark.parametrize(
    "line", ["", "0.5", "0.5 opened t", "now opened t a", "0.5 unknown t a", "0.5 border-passed t a b"]
)
def test_a_malformed_line_is_refused(line):
    with pytest.raises(EngineFailed, match="no status message"):
        parse_report(line)


@pytest.mark.parametrize("name", ["", "play-epoch", "play-epoch.x", "release-gate.a.window.1", "roll-back.a.b"])
def test_a_malformed_file_name_is_refused(name):
    with pytest.raises(EngineFailed, match="no command"):
        parse_command(name)


@pytest.mark.parametrize("operator", ["", "two words", "line\nbreak"])
def test_an_operator_name_that_would_break_a_line_is_refused(operator):
    with pytest.raises(ValueError, match="operator"):
        AttemptOpened(operator, "a")
