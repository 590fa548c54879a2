"""A command line, run in this process."""

from pathlib import Path

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


@pytest.fixture
def somewhere(tmp_path, monkeypatch):
    """A folder of one's own to be in, from which the engines of the tests can be imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(Path(__file__).parents[2])


@pytest.fixture(scope="session")
def certified(tmp_path_factory):
    """A folder of results that is certified, made once; take a copy to change it."""
    folder = tmp_path_factory.mktemp("certified") / "results"
    with pytest.raises(SystemExit) as left:
        main(["certify", "mutant:appended-on-replay", "--cases", "2", "--shrink-runs", "20", "--out", str(folder)])
    assert left.value.code == 1
    return folder
