"""A command line, run in this process."""

import pytest

from conformance.cli import main


@pytest.fixture
def conformance(capsys):
    """Runs a command line; gives exit code, stdout and stderr."""

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return left.value.code, captured.out, captured.err

    return run
