"""
The command line, with one module for each command.

The module of a command is imported only when the command runs, so that `conformance --help` answers at once.
"""

import errno
import os
import sys
from importlib import import_module
from typing import Any, NoReturn

import click

from conformance import __version__
from conformance.cli.remarks import printed_remarks
from conformance.cli.say import say
from conformance.errors import ConformanceError

INTERRUPTED = 130
OUR_BUG = 70
PIPE_CLOSED = 141
UNWRITABLE = 2

COMMANDS = {
    "certify": ("conformance.cli.certify:certify", "Run, judge and shrink many cases; write a certificate."),
    "run": ("conformance.cli.run:run", "Run a saved case on engines, with verdicts."),
    "check": ("conformance.cli.check:check", "Judge recorded observations, without an engine."),
    "compare": ("conformance.cli.compare:compare", "Compare the observations of two engines for a case."),
    "verify": ("conformance.cli.verify:verify", "Recompute a certificate from its folder."),
    "report": ("conformance.cli.report:report", "Write the HTML report of one or several result folders again."),
    "kit": ("conformance.cli.kit:kit", "Write a starting point for an adapter, which conforms already."),
    "smoke": ("conformance.cli.smoke:smoke", "Check an adapter, and list its mistakes with the protocol lines."),
    "engines": ("conformance.cli.engines:engines", "List the engines that can run here, and why others cannot."),
    "mutants": (
        "conformance.cli.mutants:mutants",
        "Run the mutation tests of the suite: broken engines, convicted or not.",
    ),
    "generate": (
        "conformance.cli.generate:generate",
        "Write generated cases, or count how often each situation occurs.",
    ),
    "flink-image": ("conformance.cli.flink_image:flink_image", "Build the image that flink:containers runs."),
    "model": ("conformance.cli.model:model", "Run, replay, explain or explore the reference model."),
}


class OutputGone(Exception):
    """The reader of our output is gone, or the disk is full."""

    def __init__(self, number: int) -> None:
        super().__init__(os.strerror(number))
        self.exit_code = PIPE_CLOSED if number == errno.EPIPE else UNWRITABLE


class LazyGroup(click.Group):
    """A group that knows the name and summary of its commands, and imports a command only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except OSError as error:
            # Click would exit with 1 for a closed pipe, and 1 means "violates".
            if error.errno in {errno.EPIPE, errno.ENOSPC}:
                raise OutputGone(error.errno) from None
            raise
        return result

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="conformance")
def cli() -> None:
    """Decide whether a streaming engine keeps its guarantee that failures cannot be seen in its output."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command and exit with the code that docs/reference/commands.md defines."""
    sys.exit(_exit_code(arguments))


def _exit_code(arguments: list[str] | None) -> int:
    try:
        with printed_remarks():
            result: Any = cli.main(arguments, prog_name="conformance", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        say("Interrupted.", err=True)
        return INTERRUPTED
    except ConformanceError as error:
        say(f"{type(error).__name__}: {error}", err=True)
        return error.exit_code
    except OutputGone as gone:
        if gone.exit_code == UNWRITABLE:
            say(f"The output cannot be written: {gone}.", err=True)
        # Without this, Python reports the error again when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return gone.exit_code
    except Exception:  # noqa: BLE001 - anything else is a bug of ours
        return _report_bug()
    return result if isinstance(result, int) else 0


def _report_bug() -> int:
    import platform  # noqa: PLC0415 - only needed here
    import traceback  # noqa: PLC0415

    traceback.print_exc()
    say(
        f"\nThis is a bug of dataflow-conformance {__version__} (Python {platform.python_version()}, "
        f"{platform.system()}). Please report it with the lines above and the files you gave.",
        err=True,
    )
    return OUR_BUG
