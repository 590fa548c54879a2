"""Real engines log what their adapters do, and hand over the files of their runs."""

import pytest

from conformance.adapters.action_log import ACTION_LOG
from conformance.adapters.subprocess_engine import SubprocessEngine
from conformance.adapters.supervisor import ARTIFACTS
from conformance.case import Crash
from conformance.codec import digest
from conformance.engine import RunRequest
from conformance.generators import corpus

COMMANDS = ["signalled play-epoch.1", "signalled release-gate"]

ENGINES = [
    pytest.param("bytewax", ["attempt 2 is process"], marks=pytest.mark.bytewax),
    pytest.param("pathway", ["attempt 2 is process"], marks=pytest.mark.pathway),
    pytest.param(
        "spark", ["launched on local", "start 1 on driver", "failure 0: an exception"], marks=pytest.mark.spark
    ),
    pytest.param("flink", [*COMMANDS, "closed by checkpoint"], marks=pytest.mark.flink),
    pytest.param(
        "flink:processes", [*COMMANDS, "cluster: started worker-3", "closed by checkpoint"], marks=pytest.mark.flink
    ),
]


@pytest.mark.parametrize(("engine", "actions"), ENGINES)
def test_a_run_leaves_its_files_and_a_log_of_actions(engine, actions, tmp_path):
    suite, log = tmp_path / "suite", tmp_path / "adapter.log"
    suite.mkdir()
    process = SubprocessEngine(engine, environment={ARTIFACTS: str(suite), ACTION_LOG: str(log)})
    try:
        capabilities = process.start().capabilities
        case = next(
            case
            for case in corpus().values()
            if not capabilities.unsupported(case) and any(isinstance(failure, Crash) for failure in case.failures)
        )
        (seen,) = process.run([RunRequest(case)])
    finally:
        process.stop()
    assert seen.end == "completed"
    (parcel,) = suite.iterdir()
    assert (parcel / "cases").read_text() == f"{digest(case)}\n"
    assert any(path.is_file() and path.stat().st_size for path in (parcel / "files").rglob("*"))
    assert ("flink" in engine) == any((parcel / "logs").iterdir())
    lines = log.read_text()
    assert digest(case)[:12] in lines
    assert [action for action in actions if action not in lines] == []
