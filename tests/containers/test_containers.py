"""A real Flink, in containers. Without Docker or the image these tests are skipped, with the reason."""

import os
import re
import signal
import tempfile
import time
from pathlib import Path

import pytest
from attrs import evolve

from conformance.adapters import orphans
from conformance.adapters.flink import image
from conformance.adapters.subprocess_engine import SubprocessEngine
from conformance.adapters.supervisor import identity
from conformance.case import PHASES, Partition
from conformance.engine import RunRequest
from conformance.errors import EngineUnavailable
from conformance.generators import corpus
from conformance.judge import Budget, Conforms, judge
from tests.flink.fault_cases import CASE, EVIDENCE, killing, observe, run_script, running

pytestmark = pytest.mark.containers


@pytest.fixture(scope="module", autouse=True)
def docker():
    try:
        image.check()
    except EngineUnavailable as error:
        pytest.skip(str(error))
    from conformance.adapters.flink.containers import docker_client  # noqa: PLC0415 - it needs the docker package

    return docker_client()


@pytest.fixture(scope="module")
def flink(docker):  # noqa: ARG001
    with running("containers") as both:
        yield both


def containers_of(docker, owner):
    return docker.containers.list(all=True, filters={"label": f"conformance.owner={owner}"}, ignore_removed=True)


def networks_of(docker, owner):
    return docker.networks.list(filters={"label": f"conformance.owner={owner}"})


def test_the_java_of_the_image_is_a_setting(flink):
    assert re.fullmatch(r"\d+\.[\d.]+ \(image\)", flink[1].info.settings["java"])


def test_containers_are_unprivileged_and_see_only_the_engines_folder(flink, docker):
    _, description = flink
    assert description.capabilities.failures == {"crash", "restart", "kill", "partition"}
    found = containers_of(docker, orphans.owner())
    assert len(found) == 4
    published = []
    for container in found:
        attrs, host = container.attrs, container.attrs["HostConfig"]
        assert attrs["Config"]["User"].split(":")[0] != "0"
        assert host["CapDrop"] == ["ALL"]
        assert not host["CapAdd"]
        assert not host["Privileged"]
        assert host["ReadonlyRootfs"]
        assert "no-new-privileges" in host["SecurityOpt"]
        assert 0 < host["Memory"] <= 2 * 2**30
        assert host["PidsLimit"] > 0
        (mounted,) = [mount for mount in attrs["Mounts"] if mount["Type"] != "tmpfs"]
        assert mounted["Source"] == mounted["Destination"]
        assert Path(mounted["Source"]).name.startswith("flink-")
        published += [each for bound in (host["PortBindings"] or {}).values() for each in bound]
    assert [each["HostIp"] for each in published] == ["127.0.0.1"]


def test_only_the_coordinator_is_on_a_network_that_is_not_internal(flink, docker):  # noqa: ARG001
    networks = {network.name: network for network in networks_of(docker, orphans.owner())}
    assert sorted(network.attrs["Internal"] for network in networks.values()) == [False, True]
    for container in containers_of(docker, orphans.owner()):
        joined = container.attrs["NetworkSettings"]["Networks"]
        assert set(joined) <= set(networks)
        if "coordinator" not in container.name:
            (name,) = joined
            assert networks[name].attrs["Internal"]


def test_cases_without_kills_conform(flink):
    engine, _ = flink
    given = [case for case in corpus().values() if {each.kind for each in case.failures} <= {"crash"}][:6]
    for case, seen in zip(given, engine.run([RunRequest(case, seconds=300) for case in given]), strict=True):
        assert seen.end == "completed", seen.message
        assert len(seen.fired) == len(case.failures)
        assert isinstance(judge(case, seen, Budget(steps=150_000)), Conforms)


@pytest.mark.parametrize(
    ("target", "phase"),
    [*(("worker", phase) for phase in PHASES), ("coordinator", "processing"), ("coordinator", "commit")],
)
def test_workers_and_the_coordinator_are_killed_in_a_phase(flink, target, phase):
    engine, _ = flink
    evidence = observe(engine, killing(target, phase)).fired[-1].evidence
    expected = rf"SIGKILL of {target}-\d+ \(container [0-9a-f]+\)(, with(out)? a standby,)? when {EVIDENCE[phase]}"
    assert re.fullmatch(expected, evidence), evidence


@pytest.mark.parametrize("seconds", [1, 5])
def test_a_worker_is_partitioned_and_reconnected(flink, seconds):
    engine, _ = flink
    evidence = observe(engine, evolve(CASE, failures=(Partition("worker", 2, seconds),))).fired[-1].evidence
    expected = (
        rf"worker-\d+ \(container [0-9a-f]+\) was cut off its network for {seconds} s when {EVIDENCE['processing']}"
    )
    assert re.fullmatch(expected, evidence), evidence


SCRIPT = """
import sys
from conformance.adapters.subprocess_engine import SubprocessEngine
engine = SubprocessEngine("flink:containers")
engine.start()
print("ready", flush=True)
try:
    sys.stdin.read()
except BaseException:
    engine.kill()
    raise
finally:
    engine.stop()
"""


def orphan_counts(docker, owner, tmp_path):
    """Count containers, networks, volumes and temporary folders."""
    return (
        len(containers_of(docker, owner)),
        len(networks_of(docker, owner)),
        len(docker.volumes.list()),
        len(list(tmp_path.glob("conformance-*/"))),
    )


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_or_killed_run_leaves_no_orphans(docker, tmp_path, signal_number):
    volumes = len(docker.volumes.list())
    with run_script(tmp_path, SCRIPT) as process:
        (folder,) = tmp_path.glob("conformance-*/")
        owner = (folder / ".owner").read_text()
        assert orphan_counts(docker, owner, tmp_path) == (4, 2, volumes, 1)
        process.send_signal(signal_number)
    # The supervisor outlives the run.
    deadline = time.monotonic() + 60
    while orphan_counts(docker, owner, tmp_path) != (0, 0, volumes, 0) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert orphan_counts(docker, owner, tmp_path) == (0, 0, volumes, 0)


def test_the_next_run_removes_the_orphans_of_a_killed_supervisor(docker, tmp_path, monkeypatch):
    volumes = len(docker.volumes.list())
    with run_script(tmp_path, SCRIPT) as process:
        (folder,) = tmp_path.glob("conformance-*/")
        owner = (folder / ".owner").read_text()
        supervisor = int(owner.split("/")[1])
        assert identity(supervisor) == owner
        os.kill(supervisor, signal.SIGKILL)
        process.kill()
    assert orphan_counts(docker, owner, tmp_path)[3] == 1
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    engine = SubprocessEngine("flink:containers")
    engine.start()
    try:
        assert orphan_counts(docker, owner, tmp_path)[:3] == (0, 0, volumes)
        assert not folder.exists()
    finally:
        engine.stop()
