"""The real Flink, in containers. Without Docker or the image these tests are skipped, and say what is missing."""

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
from tests.flink.struck import CASE, EVIDENCE, failing, running, seen_of, suite_in

pytestmark = pytest.mark.containers


@pytest.fixture(scope="module", autouse=True)
def docker():
    try:
        image.check()
    except EngineUnavailable as why:
        pytest.skip(str(why))
    from conformance.adapters.flink.containers import docker_client  # noqa: PLC0415 - it was there to be found

    return docker_client()


@pytest.fixture(scope="module")
def flink(docker):  # noqa: ARG001
    with running("containers") as both:
        yield both


def containers_of(docker, owner):
    return docker.containers.list(all=True, filters={"label": f"conformance.owner={owner}"}, ignore_removed=True)


def networks_of(docker, owner):
    return docker.networks.list(filters={"label": f"conformance.owner={owner}"})


def test_containers_have_no_rights_and_see_nothing_but_the_engines_folder(flink, docker):
    _, description = flink
    assert description.capabilities.failures == {"crash", "restart", "kill", "partition"}
    found = containers_of(docker, orphans.owner())
    assert len(found) == 4
    published = []
    for container in found:
        told, host = container.attrs, container.attrs["HostConfig"]
        assert told["Config"]["User"].split(":")[0] != "0"
        assert host["CapDrop"] == ["ALL"]
        assert not host["CapAdd"]
        assert not host["Privileged"]
        assert host["ReadonlyRootfs"]
        assert "no-new-privileges" in host["SecurityOpt"]
        assert 0 < host["Memory"] <= 2 * 2**30
        assert host["PidsLimit"] > 0
        (mounted,) = [mount for mount in told["Mounts"] if mount["Type"] != "tmpfs"]
        assert mounted["Source"] == mounted["Destination"]
        assert Path(mounted["Source"]).name.startswith("flink-")
        published += [each for bound in (host["PortBindings"] or {}).values() for each in bound]
    assert [each["HostIp"] for each in published] == ["127.0.0.1"]


def test_the_networks_are_their_own_and_workers_are_on_one_that_leads_nowhere(flink, docker):  # noqa: ARG001
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
def test_workers_and_the_coordinator_are_killed(flink, target, phase):
    engine, _ = flink
    told = seen_of(engine, failing(target, phase)).fired[-1].evidence
    how = rf"SIGKILL of {target}-\d+ \(container [0-9a-f]+\)(, with(out)? a standby,)? when {EVIDENCE[phase]}"
    assert re.fullmatch(how, told), told


@pytest.mark.parametrize("seconds", [1, 5])
def test_a_worker_is_cut_off_its_network_and_joins_it_again(flink, seconds):
    engine, _ = flink
    told = seen_of(engine, evolve(CASE, failures=(Partition("worker", 2, seconds),))).fired[-1].evidence
    cut = rf"worker-\d+ \(container [0-9a-f]+\) was cut off its network for {seconds} s when {EVIDENCE['processing']}"
    assert re.fullmatch(cut, told), told


SUITE = """
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


def left(docker, owner, tmp_path):
    """Containers, networks, volumes, temporary folders."""
    return (
        len(containers_of(docker, owner)),
        len(networks_of(docker, owner)),
        len(docker.volumes.list()),
        len(list(tmp_path.glob("conformance-*/"))),
    )


@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_of_a_run_that_is_interrupted_or_killed(docker, tmp_path, way):
    volumes = len(docker.volumes.list())
    with suite_in(tmp_path, SUITE) as suite:
        (folder,) = tmp_path.glob("conformance-*/")
        owner = (folder / ".owner").read_text()
        assert left(docker, owner, tmp_path) == (4, 2, volumes, 1)
        suite.send_signal(way)
    # The supervisor goes on for as long as it takes.
    until = time.monotonic() + 60
    while left(docker, owner, tmp_path) != (0, 0, volumes, 0) and time.monotonic() < until:
        time.sleep(0.1)
    assert left(docker, owner, tmp_path) == (0, 0, volumes, 0)


def test_what_is_left_when_even_the_guard_is_killed_the_next_run_removes(docker, tmp_path, monkeypatch):
    volumes = len(docker.volumes.list())
    with suite_in(tmp_path, SUITE) as suite:
        (folder,) = tmp_path.glob("conformance-*/")
        owner = (folder / ".owner").read_text()
        supervisor = int(owner.split("/")[1])
        assert identity(supervisor) == owner
        os.kill(supervisor, signal.SIGKILL)
        suite.kill()
    assert left(docker, owner, tmp_path)[3] == 1
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    engine = SubprocessEngine("flink:containers")
    engine.start()
    try:
        assert left(docker, owner, tmp_path)[:3] == (0, 0, volumes)
        assert not folder.exists()
    finally:
        engine.stop()
