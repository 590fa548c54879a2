"""Fault injectors: what waits for a fault, and which faults a cluster and a case have."""

import logging
from pathlib import Path
from random import Random

import pytest
from attrs import evolve

from conformance.case import PHASES, Crash, Kill, Partition
from conformance.codec import digest
from conformance.engine import RunRequest
from conformance.observation import Fired
from tests.flink.fault_cases import CASE

pytestmark = pytest.mark.flink


class Node:
    """A node of a cluster that counts what is done to it."""

    def __init__(self, name):
        self.name = self.description = name
        self.calls = []

    def disconnect(self):
        self.calls.append("disconnect")

    def reconnect(self):
        self.calls.append("reconnect")

    def kill(self):
        self.calls.append("kill")


def cluster():
    """A cluster of processes that are not there."""
    from conformance.adapters.flink.standalone import StandaloneCluster  # noqa: PLC0415 - it needs PyFlink

    class Cluster(StandaloneCluster):
        def start_node(self, _role, name):
            return Node(name)

        def rest_address(self, _coordinator):
            return None

        def registered_workers(self):
            return {worker.name for worker in self.workers}

    return Cluster()


def case_run(tmp_path, *failures):
    from conformance.adapters.flink.case_run import CaseRun  # noqa: PLC0415
    from conformance.adapters.flink.control import ControlChannel  # noqa: PLC0415
    from conformance.adapters.flink.deployment import deploy  # noqa: PLC0415
    from conformance.adapters.flink.progress import Progress  # noqa: PLC0415

    request = RunRequest(evolve(CASE, failures=failures))
    channel = ControlChannel(str(tmp_path), 0)
    channel.prepare()
    return CaseRun(request, deploy(channel, request, {}, parallel=False), Progress(channel), plays_ahead=True)


def injector(run, on=None):
    from conformance.adapters.flink.checkpoints import CheckpointApi  # noqa: PLC0415
    from conformance.adapters.flink.committed import CommittedOutput  # noqa: PLC0415
    from conformance.adapters.flink.faults import fault_injector  # noqa: PLC0415

    folder = Path(run.deployment.channel.folder)
    return fault_injector([run], on or cluster(), CheckpointApi(None, CommittedOutput(folder)))


def test_a_case_without_kills_has_no_faults(tmp_path):
    faults = injector(case_run(tmp_path, Crash("first", 2, 0)))
    faults.step(1)
    assert type(faults).__name__ == "NoFaults"
    assert not faults.delays_checkpoint(2)
    assert not faults.keeps_gate_closed(2)


def test_a_cluster_without_processes_has_no_faults(tmp_path):
    assert type(injector(case_run(tmp_path, Kill("worker", 2)), on=object())).__name__ == "NoFaults"


@pytest.mark.parametrize("failure", [Kill("worker", 2), Kill("coordinator", 2), Partition("worker", 2, 1)])
def test_a_checkpoint_waits_for_a_fault_while_its_epoch_is_processed(tmp_path, failure):
    faults = injector(case_run(tmp_path, failure))
    assert [faults.delays_checkpoint(epoch) for epoch in (1, 2, 3)] == [False, True, False]
    assert [faults.keeps_gate_closed(epoch) for epoch in (1, 2, 3)] == [False, True, False]
    over = case_run(tmp_path, failure)
    over.fired.append(Fired(0, 0, "", 0.0))
    assert not injector(over).delays_checkpoint(2)


@pytest.mark.parametrize("phase", ["snapshot", "commit"])
def test_a_checkpoint_waits_until_a_blocker_blocks_it(tmp_path, phase):
    assert injector(case_run(tmp_path, Kill("worker", 2, phase))).delays_checkpoint(2)


def test_no_checkpoint_waits_for_a_kill_in_recovery(tmp_path):
    assert not injector(case_run(tmp_path, Kill("worker", 2, "recovery"))).delays_checkpoint(2)


@pytest.mark.parametrize("phase", PHASES)
def test_only_a_late_kill_in_a_snapshot_lets_tasks_go_on(tmp_path, phase):
    kept = {
        injector(evolve_seed(case_run(tmp_path, Kill("worker", 2, phase)), seed)).keeps_gate_closed(2)
        for seed in range(20)
    }
    expected = {"processing": {True}, "snapshot": {True, False}, "commit": {False}, "recovery": {False}}
    assert kept == expected[phase]


def evolve_seed(run, seed):
    run.request = evolve(run.request, seed=seed)
    return run


def test_a_blocker_blocks_on_another_worker_than_the_one_to_be_suspended(tmp_path, monkeypatch):
    from conformance.adapters.flink.faults.blockers import Blockers  # noqa: PLC0415
    from conformance.adapters.flink.faults.context import FaultContext  # noqa: PLC0415
    from conformance.adapters.flink.messages import BlockCheckpoint, Gate  # noqa: PLC0415
    from conformance.adapters.flink.progress import WaitingOperator  # noqa: PLC0415

    run, there = case_run(tmp_path, Kill("worker", 2, "commit")), cluster()
    there.workers = [Node("one"), Node("two")]
    chains = {"0/first": "one", "0/sink:out": "one", "0/blocker:0": "one", "0/blocker:1": "two"}
    monkeypatch.setattr(FaultContext, "workers_by_chain", lambda _: chains)
    run.progress.attempts = {"blocker:0": "a", "blocker:1": "b"}
    blockers = Blockers(FaultContext(run, there, None, Random(0)))
    blockers.block(kill_suspended=True)
    plan = blockers.plan
    assert (plan.victim.name, plan.blocker, plan.suspended.name) == ("one", "blocker:1", "one")
    assert run.progress.channel.is_signalled(BlockCheckpoint("b", 0))
    assert blockers.blocking_plan is None
    run.progress.waiting["blocker:1", Gate.CHECKPOINT] = WaitingOperator("b", 0, 0.0)
    assert blockers.blocking_plan == plan
    run.progress.attempts["blocker:1"] = "c"
    assert blockers.plan is None, "its blocker has failed"


def test_a_partition_ends_after_its_seconds_or_with_the_job(tmp_path, monkeypatch):
    from conformance.adapters.flink.faults.context import FaultContext  # noqa: PLC0415
    from conformance.adapters.flink.faults.partition_worker import PartitionWorker  # noqa: PLC0415

    now = 10.0
    monkeypatch.setattr("conformance.adapters.flink.faults.partition_worker.monotonic", lambda: now)
    context = FaultContext(case_run(tmp_path), cluster(), None, Random(0))
    one, two = Node("one"), Node("two")
    short, long = PartitionWorker(context, 5), PartitionWorker(context, 500)
    assert short.inject(one, "it was time") == "one was cut off its network for 5 s when it was time"
    long.inject(two, "it was time")
    assert not short.is_over()
    now = 15.1
    assert short.is_over()
    assert one.calls == ["disconnect", "reconnect"]
    long.stop()
    assert two.calls == ["disconnect", "reconnect"]


def test_nodes_and_injections_are_logged(tmp_path, caplog):
    there, run = cluster(), case_run(tmp_path, Kill("worker", 2))
    caplog.set_level(logging.INFO)
    there.start_worker()
    (worker,) = there.workers
    injector(run, there)._inject(worker, "it was time")  # noqa: SLF001
    assert caplog.messages == [
        "cluster: started worker-1",
        f"case {digest(run.request.case)[:12]}: inject failure 0, KillWorker: it was time",
        "cluster: killed worker-1",
    ]
    assert run.deployment.channel.evidence.has(0)


def test_only_cases_whose_workers_are_killed_have_a_standby():
    from conformance.adapters.flink.faults.standby import has_standby  # noqa: PLC0415

    def share(failure):
        return sum(has_standby(RunRequest(evolve(CASE, failures=(failure,)), seed=seed)) for seed in range(200)) / 200

    assert share(Kill("coordinator", 1)) == share(Crash("first", 1, 0)) == 0
    assert 0.3 < share(Kill("worker", 1)) < 0.7
