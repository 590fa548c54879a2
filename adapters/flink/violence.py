"""
Kills and partitions: of whom, and when. That it was the right moment is looked at while nothing can move on.

The driver decides when a checkpoint is asked for, so the time before is its own. From then on a brake, an operator that
is no part of the case, keeps the checkpoint from being complete for as long as it stands still. For a kill between
completion and commit, a worker with a sink is made to stand still once all its tasks have done their part; then the
brake is let go, the checkpoint is complete, and what this worker would have committed is not there. While an engine
recovers, operators that are restored take their time. So all windows are as wide as they have to be, and all of them
are Flink's own.
"""

from random import Random
from time import monotonic, sleep
from typing import cast

from attrs import frozen

from conformance.adapters.flink.checkpoints import Checkpoints
from conformance.adapters.flink.cluster import Cluster
from conformance.adapters.flink.control import SLOWLY, Progress
from conformance.adapters.flink.job import BRAKE, SINK, Placed
from conformance.adapters.flink.rest import Refused
from conformance.adapters.flink.roles import WORKERS
from conformance.adapters.flink.standalone import Part, Standalone
from conformance.case import Kill, Partition
from conformance.codec import digest
from conformance.engine import RunRequest

SOON = 10.0
"""Seconds for a checkpoint to be complete that nothing holds back any more."""


def has_standby(job: RunRequest) -> bool:
    """Whether a case is run with one worker more than it needs, for as long as workers of it are to be killed."""
    if not any(isinstance(failure, Kill) and failure.target == "worker" for failure in job.case.failures):
        return False
    return Random(f"standby/{job.seed}/{digest(job.case)}").random() < 1 / 2


@frozen
class Aim:
    """Who is to be killed, by which brake a checkpoint is kept back, and who is to stand still when it is complete."""

    victim: Part
    brake: str
    me: str
    """The brake's incarnation."""
    frozen: Part


class Violence:
    """What a case's kills and partitions need. A case that has none is left in peace."""

    def __init__(
        self, job: RunRequest, placed: Placed, progress: Progress, cluster: Cluster, checkpoints: Checkpoints
    ) -> None:
        self._case = job.case
        self._placed = placed
        self._desk = placed.desk
        self._progress = progress
        self._cluster = cast("Standalone", cluster)
        self._checkpoints = checkpoints
        self._committed = checkpoints.committed
        self._chance = Random(f"violence/{job.seed}/{digest(job.case)}")
        self._is_violent = any(isinstance(failure, Kill | Partition) for failure in job.case.failures)
        self._standby = has_standby(job)
        self._early = [self._chance.random() < 1 / 2 for _ in job.case.failures]
        self._aim: Aim | None = None
        self._braked: dict[str, int] = {}
        self._number = 0
        self._closed = 0
        self._seeks = False
        self._cut: tuple[Part, float] | None = None

    @property
    def _armed(self) -> Kill | Partition | None:
        """What is to strike next, if it is for us to do."""
        if self._is_violent and self._number < len(self._case.failures):
            failure = self._case.failures[self._number]
            return failure if isinstance(failure, Kill | Partition) else None
        return None

    @property
    def _phase(self) -> str:
        return (self._armed.phase or "processing") if isinstance(self._armed, Kill) else "processing"

    def holds_back(self, epoch: int) -> bool:
        """Whether the checkpoint of an epoch is not to be asked for yet."""
        if self._armed is None or self._armed.epoch != epoch or self._phase == "recovery":
            return False
        return self._phase == "processing" or not self._brakes

    def holds(self, what: str, epoch: int) -> bool:
        """Whether an operator that waits is not to be let go."""
        if what == "brakes":
            return True
        if self._armed is None or self._armed.epoch != epoch:
            return False
        return self._phase == "processing" or (self._phase == "snapshot" and self._early[self._number])

    def step(self, number: int, closed: int) -> None:
        """Look, and do what is due; `number` failures have struck, and `closed` epochs are complete."""
        if not self._is_violent:
            return
        self._number, self._closed = number, closed
        self._join_again()
        if self._seeks:
            self._seeks = not self._cluster.has_coordinator()
        else:
            self._keep_workers()
            self._slow_down()
            try:
                self._strike_if_due()
            except (Refused, OSError, KeyError):
                return  # It is being restored; there will be another moment.

    def end(self) -> None:
        """Nobody is to suffer any longer than the case lasts."""
        self._let_go()
        self._desk.unmark(SLOWLY)
        if self._cut is not None:
            self._cut = (self._cut[0], 0.0)
            self._join_again()

    # Who is there

    def _keep_workers(self) -> None:
        """As many workers as a job needs, and another one where the case is run with a standby."""
        to_come = any(
            isinstance(each, Kill) and each.target == "worker" for each in self._case.failures[self._number :]
        )
        for _ in range(WORKERS + (self._standby and to_come) - len(self._cluster.workers)):
            self._cluster.new_worker()

    def _are_all_there(self) -> bool:
        return {worker.name for worker in self._cluster.workers} <= self._cluster.registered()

    def _slow_down(self) -> None:
        """Let operators take their time to be restored, if the failure after this one is to strike then."""
        after = self._case.failures[self._number + 1 : self._number + 2]
        is_next = any(isinstance(each, Kill) and each.phase == "recovery" for each in after)
        wanted = is_next and self._is_open() and not self._progress.opening
        if wanted or (self._phase == "recovery" and self._number):
            if not self._desk.is_marked(SLOWLY):
                self._desk.mark(SLOWLY)
        elif self._desk.is_marked(SLOWLY):
            self._desk.unmark(SLOWLY)

    def _is_open(self) -> bool:
        names = {
            *(f"source:{source}" for source in self._case.graph.sources),
            *(t.name for t in self._case.graph.tasks),
        }
        return names <= self._progress.me.keys()

    def _places(self) -> dict[str, str]:
        """By the names in a chain of operators, the worker that it runs on; nothing while not all of them run."""
        vertices = self._vertices()
        if any(vertex["status"] != "RUNNING" for vertex in vertices):
            return {}
        return {vertex["name"]: self._host(vertex["id"]) for vertex in vertices}

    def _vertices(self) -> list[dict[str, str]]:
        return list(self._cluster.rest.get(f"/jobs/{self._checkpoints.job}")["vertices"])

    def _host(self, vertex: str) -> str:
        job = self._checkpoints.job
        (task, *_) = self._cluster.rest.get(f"/jobs/{job}/vertices/{vertex}")["subtasks"]
        return str(task["taskmanager-id"])

    # When

    def _strike_if_due(self) -> None:
        armed = self._armed
        if armed is None:
            return
        if self._phase == "recovery":
            if self._progress.opening:
                self._strike_in_recovery()
        elif self._closed == armed.epoch - 1 and self._are_all_there():
            if self._phase == "processing":
                self._strike_while_processing(armed)
            elif not self._brakes:
                if self._aim is None:  # Else it has been told to, and is about to.
                    self._take_aim()
            elif self._phase == "snapshot":
                self._strike_in_snapshot()
            else:
                self._strike_before_commit()

    def _strike_while_processing(self, armed: Kill | Partition) -> None:
        played = [
            source
            for source in self._case.graph.sources
            if self._progress.passed.get(f"source:{source}", -1) >= armed.epoch
        ]
        waits = [who for (who, _), (_, epoch, _) in self._progress.waiting.items() if epoch == armed.epoch]
        passed = all(self._progress.passed.get(task.name, 0) >= armed.epoch for task in self._case.graph.tasks)
        is_far = len(played) == len(self._case.graph.sources) and (waits or passed)
        if not (played if self._early[self._number] else is_far):
            return
        places = self._places()
        hosts = [worker for worker in self._cluster.workers if worker.name in places.values()]
        if not hosts:
            return
        where = f"epoch {armed.epoch} was in flight: {', '.join(played)} had been played"
        if waits:
            where += f", {', '.join(sorted(set(waits)))} stood before its border"
        self._strike(self._chance.choice(hosts), f"{where}, and no checkpoint had been asked for")

    def _strike_in_snapshot(self) -> None:
        found = self._checkpoint()
        if found is None:
            return
        number, done, all_ = found
        aim = self._aim
        assert aim is not None  # noqa: S101 - a brake stands still
        others = {name for name in all_ if name != self._placed.named(aim.brake)}
        if self._early[self._number] or others <= done:
            self._strike(
                aim.victim, f"checkpoint {number} was under way: {len(done)} of {len(all_)} tasks were done with it"
            )

    def _strike_before_commit(self) -> None:
        aim, found = self._aim, self._checkpoint()
        assert aim is not None  # noqa: S101 - a brake stands still
        if found is None or {name for name in found[2] if name != self._placed.named(aim.brake)} - found[1]:
            return
        number = found[0]
        aim.frozen.freeze()
        try:
            self._progress.let(aim.brake, "brakes")
            if self._is_complete(number):
                files = self._committed.files((len(self._committed.jobs) - 1, number))
                hidden = [path for path in files if not path.exists()]
                if hidden:
                    words = (
                        f"checkpoint {number} was complete, and {len(hidden)} of its {len(files)} files were not there"
                    )
                    self._strike(aim.victim, words)
        finally:
            self._aim = None
            if aim.frozen.is_alive:
                aim.frozen.thaw()

    def _strike_in_recovery(self) -> None:
        vertices = self._vertices()
        starting = [vertex for vertex in vertices if vertex["status"] == "INITIALIZING"]
        names = {self._host(vertex["id"]) for vertex in starting}
        hosts = [worker for worker in self._cluster.workers if worker.name in names]
        if hosts:
            words = f"{len(starting)} of {len(vertices)} tasks were being restored after failure {self._number - 1}"
            self._strike(self._chance.choice(hosts), words)

    # How

    def _strike(self, victim: Part, words: str) -> None:
        armed = self._armed
        standby = "with a standby" if len(self._cluster.registered()) > WORKERS else "without a standby"
        if isinstance(armed, Partition):
            victim.cut()  # type: ignore[attr-defined]
            self._cut = (victim, monotonic() + armed.seconds)
            how = f"{victim.words} was cut off its network for {armed.seconds:g} s when {words}"
        elif isinstance(armed, Kill) and armed.target == "coordinator":
            how = f"SIGKILL of {self._cluster.coordinator.words} when {words}"
            self._cluster.kill_coordinator()
            self._seeks = True
        else:
            how = f"SIGKILL of {victim.words}, {standby}, when {words}"
            self._cluster.kill_worker(victim)
        self._desk.strike(self._number, how)
        self._desk.unmark(SLOWLY)
        self._let_go()

    def _join_again(self) -> None:
        if self._cut is not None and monotonic() > self._cut[1]:
            self._cut[0].join()  # type: ignore[attr-defined]
            self._cut = None

    # Brakes

    def _take_aim(self) -> None:
        """Choose, and let a brake stand still that is not where somebody else is going to."""
        places = self._places()
        brakes = {name.partition("/")[2]: worker for name, worker in places.items() if f"/{BRAKE}:" in name}
        hosts = [each for each in self._cluster.workers if each.name in places.values()]
        sinks = [each for each in hosts if any(f"/{SINK}:" in name for name, at in places.items() if at == each.name)]
        if not brakes or not sinks or not set(brakes) <= self._progress.me.keys():
            return
        still = self._chance.choice(sinks)
        victim = still if self._phase == "commit" else self._chance.choice(hosts)
        elsewhere = sorted(name for name, worker in brakes.items() if worker != still.name)
        if elsewhere:
            brake = self._chance.choice(elsewhere)
            me = self._progress.me[brake]
            self._desk.mark(f"{brake}-{me}-{self._braked.setdefault(me, 0)}")
            self._braked[me] += 1
            self._aim = Aim(victim, brake, me, still)

    @property
    def _brakes(self) -> bool:
        """Whether a brake stands still."""
        aim = self._aim
        if aim is None:
            return False
        if self._progress.me.get(aim.brake) != aim.me:
            self._aim = None  # It has failed, with whatever else has.
            return False
        return (aim.brake, "brakes") in self._progress.waiting

    def _let_go(self) -> None:
        for who, what in list(self._progress.waiting):
            if what == "brakes":
                self._progress.let(who, what)
        self._aim = None

    # Checkpoints

    def _checkpoint(self) -> tuple[int, set[str], set[str]] | None:
        """The checkpoint that is under way: its number, the tasks that are done with it, and all of them."""
        number = self._checkpoints.under_way()
        if number is None:
            return None
        shares = self._checkpoints.shares(number)
        return number, {chain for chain, share in shares.items() if share.is_done}, set(shares)

    def _is_complete(self, number: int) -> bool:
        """Wait until a checkpoint is; what it is to commit is known then."""
        until = monotonic() + SOON
        while monotonic() < until:
            told = self._checkpoints.details(number)["status"]
            if told != "IN_PROGRESS":
                self._committed.look()
                return bool(told == "COMPLETED")
            sleep(0.002)
        return False
