"""A job through its epochs, and through all that happens to it."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep, time

from attrs import define, field

from conformance.adapters.flink.case_run import Ran
from conformance.adapters.flink.checkpoints import Checkpoints, first
from conformance.adapters.flink.cluster import Client, Cluster
from conformance.adapters.flink.committed import Committed, Point
from conformance.adapters.flink.control import Desk, Progress
from conformance.adapters.flink.job import placed
from conformance.adapters.flink.rest import Refused
from conformance.adapters.flink.schedule import Group, gets_ahead, independent, waits
from conformance.adapters.flink.setup import UNALIGNED, Setup
from conformance.adapters.flink.violence import Violence
from conformance.case import Crash, Restart
from conformance.codec import digest
from conformance.engine import RunRequest
from conformance.observation import EngineInfo, Fired, Observation, Observations

LOOK = 0.003
"""Seconds between two looks at how far everybody is."""

ASK = 0.01
"""Seconds between two questions to Flink, which answers every one of them at the expense of something else."""

QUIET = {"begins": 0.1, "borders": 0.02}
"""
Seconds without a sign of life, after which those who are not held back have gone as far as they can: as a case wants
it, and as we do ourselves, so that epochs overlap.
"""

QUIET_OWN = 0.15
"""The same where checkpoints come by themselves: some are to begin meanwhile."""

SHOWN = 0.05
"""Seconds between two looks at what is committed, when nothing else gives a reason."""

OVER = {"FAILED", "CANCELED", "FINISHED"}


@define
class Pending:
    """A checkpoint that was asked for: of which epoch, and which incarnations of the sources had played it."""

    request: str
    epoch: int
    sources: list[dict[str, str]]
    struck: int
    """How many failures had struck when it was asked for: one more, and it will fail."""
    ahead: list[tuple[Ran, dict[str, str]]] = field(factory=list)
    """The cases that were let into the next epoch, and the incarnations of their sources that were."""
    asked: float = 0.0
    """When Flink was last asked about it."""


class Run:
    """A job, from its submission to its end. Nothing is done for it but what is said here: recovering is Flink's."""

    def __init__(self, group: Group, setup: Setup, client: Client, cluster: Cluster, folder: Path) -> None:
        self._group = group
        self._setup = setup
        self._client = client
        self._cluster = cluster
        self._rest = cluster.rest
        self._begun = time()
        self.cases = [self._ran(number, job, folder) for number, job in enumerate(group.jobs)]
        self._committed = Committed(folder)
        self._checkpoints = Checkpoints(cluster.rest, self._committed)
        first_one = self.cases[0]
        self._violence = Violence(first_one.job, first_one.placed, first_one.progress, cluster, self._checkpoints)
        self._closed: list[Point] = []
        self._pending: Pending | None = None
        self._sent_back: set[str] = set()
        self._not_before = 0.0
        self._looked = 0.0
        self.message: str | None = None

    def _ran(self, number: int, job: RunRequest, folder: Path) -> Ran:
        desk = Desk(str(folder), number)
        desk.prepare()
        desk.mark("go-1")
        made = placed(desk, job, waits(job), parallel=self._setup.is_parallel)
        return Ran(job, made, Progress(desk), gets_ahead(job))

    @property
    def _epochs(self) -> int:
        return max(ran.job.case.epochs for ran in self.cases)

    def go(self, seconds: float) -> None:
        """Run it until everything is committed, or time is up."""
        until = monotonic() + seconds
        self._submit(None)
        try:
            while monotonic() < until and self.message is None and not self.is_done:
                self.step()
                sleep(LOOK)
            self._observe(last=True)
        finally:
            self._violence.end()
            self.end()

    def _submit(self, savepoint: Path | None) -> None:
        cases = [ran.placed for ran in self.cases]
        built = len(self._committed.jobs)
        self._committed.jobs.append(self._client.submit(self._cluster, cases, self._setup, built, savepoint))

    def end(self) -> None:
        """Cancel the job, and wait until it has let go of everything."""
        for ran in self.cases:
            for who, what in list(ran.progress.waiting):
                ran.progress.let(who, what)
        with suppress(Refused, OSError):
            self._rest.ask("PATCH", f"/jobs/{self._checkpoints.job}")
            until = monotonic() + 30
            while self._rest.get(f"/jobs/{self._checkpoints.job}/status")["status"] not in OVER and monotonic() < until:
                for ran in self.cases:
                    ran.progress.look()
                    for who, what in list(ran.progress.waiting):
                        ran.progress.let(who, what)
                sleep(LOOK)

    @property
    def is_done(self) -> bool:
        """Whether every epoch of every stream can be seen."""
        return all(self._is_done(ran) for ran in self.cases)

    def _is_done(self, ran: Ran) -> bool:
        return not isinstance(ran.armed, Restart) and self._shows(ran, ran.job.case.epochs)

    def step(self) -> None:
        """Look, and do what is due."""
        for ran in self.cases:
            ran.progress.look()
        self._note_failures()
        if self._pending is not None:
            self._wait_for_checkpoint(self._pending)
        elif self._is_time_for_a_checkpoint():
            self._checkpoint()
        self._let_go()
        self._violence.step(len(self.cases[0].fired), len(self._closed))
        if monotonic() > self._looked + SHOWN:
            self._observe()
        self._restart_if_due()

    # Checkpoints

    def _is_time_for_a_checkpoint(self) -> bool:
        epoch = len(self._closed) + 1
        if self._setup.is_own or epoch > self._epochs or monotonic() < self._not_before:
            return False
        if self._violence.holds_back(epoch):
            return False
        if any(me in self._sent_back for ran in self.cases for me in ran.incarnations().values()):
            return False
        if self._setup.mode == UNALIGNED and not all(
            ran.has_passed(epoch) for ran in self.cases if ran.job.case.epochs == epoch
        ):
            # With the last checkpoint nothing may be left in flight.
            return False
        return all(ran.has_played(epoch) for ran in self.cases)

    def _checkpoint(self) -> None:
        try:
            request = self._checkpoints.ask()
        except (Refused, OSError):
            self._later()
            return
        sources = [ran.incarnations() for ran in self.cases]
        self._pending = Pending(request, len(self._closed) + 1, sources, self._struck)

    @property
    def _struck(self) -> int:
        return sum(len(ran.fired) for ran in self.cases)

    def _later(self) -> None:
        """
        A checkpoint has failed: ask for another one. Whoever was let into the next epoch has gone too far, as no
        checkpoint stands between the two any more; unless it is restored already, it is made to fail, and will be.
        """
        if self._pending is not None:
            for ran, sources in self._pending.ahead:
                self._sent_back.update(sources.values())
                if ran.incarnations() == sources:
                    ran.fails(time(), sources)
                for me in sources.values():
                    ran.placed.desk.mark(f"back-{me}")
        self._pending = None
        self._not_before = monotonic() + 0.01

    def _wait_for_checkpoint(self, pending: Pending) -> None:
        if monotonic() < pending.asked + ASK:
            return
        pending.asked = monotonic()
        try:
            outcome = self._checkpoints.outcome(pending.request)
        except (Refused, OSError):
            self._later()
            return
        if outcome is None:
            self._let_ahead(pending)
            return
        number = outcome.get("checkpointId")
        if number is None:
            self._later()
            return
        for ran in self.cases:
            ran.progress.look()
        if pending.sources != [ran.incarnations() for ran in self.cases]:
            self._later()
        else:
            self._pending = None
            self._closed.append((len(self._committed.jobs) - 1, number))
            if self._setup.mode == UNALIGNED:
                self._weigh(number)
            self._observe()
            if not self._awaits_restart(pending.epoch):
                self._go_on()

    def _weigh(self, number: int) -> None:
        """How much a checkpoint holds of what was in flight, case by case."""
        with suppress(Refused, OSError, KeyError):
            for chain, share in self._checkpoints.shares(number).items():
                for ran in self.cases:
                    if chain.startswith(ran.placed.named("")):
                        ran.in_flight += share.in_flight

    def _go_on(self) -> None:
        for ran in self.cases:
            ran.placed.desk.mark(f"go-{len(self._closed) + 1}")

    def _let_ahead(self, pending: Pending) -> None:
        """Let sources by which the checkpoint has gone begin the next epoch, while it is under way further down."""
        there = [ran.placed.number for ran, _ in pending.ahead]
        ahead = [
            ran for ran in self.cases if ran.placed.number not in there and self._may_get_ahead(ran, pending.epoch)
        ]
        if not ahead or (self._struck > pending.struck and not self._group.is_alone):
            return
        with suppress(Refused, OSError, KeyError):
            number = self._checkpoints.under_way()
            shares = self._checkpoints.shares(number) if number is not None else {}
            done = {first(chain) for chain, share in shares.items() if share.is_done}
            for ran in ahead:
                sources = ran.incarnations()
                if all(ran.placed.named(who) in done for who in sources):
                    pending.ahead.append((ran, sources))
                    for me in sources.values():
                        ran.placed.desk.mark(f"ahead-{me}-{pending.epoch + 1}")

    def _may_get_ahead(self, ran: Ran, epoch: int) -> bool:
        if self._setup.is_own or not ran.gets_ahead or epoch >= ran.job.case.epochs or self._awaits_restart(epoch):
            return False
        if self._group.is_alone:
            return True
        armed = [(each is ran, each.armed) for each in self.cases]
        return not any(failure and failure.epoch <= epoch + is_its_own for is_its_own, failure in armed)

    def _let_go(self) -> None:
        """Let tasks go on that are held back, once all others have gone as far as they can without them."""
        for ran in self.cases:
            for (who, what), (_, epoch, since) in list(ran.progress.waiting.items()):
                if what != "brakes" and ran.is_to_be_restored(who, since):
                    # So are all others with it, and nobody can be before it has ended.
                    ran.progress.let(who, what)
                    continue
                if self._violence.holds(what, epoch):
                    continue
                quiet = time() - max(ran.progress.newest, since)
                if self._may_get_ahead(ran, epoch) and epoch > len(self._closed):
                    held = ran.placed.with_company(name for name, _ in ran.progress.waiting)
                    others = ran.placed.tasks & set(independent(ran.job.case, held))
                    far = all(ran.progress.passed.get(task, 0) > epoch for task in others)
                    if ran.has_played(epoch + 1) and far and quiet > QUIET[what]:
                        ran.overlapped.add(epoch)
                        ran.progress.let(who, what)
                elif what == "borders" or quiet > (QUIET_OWN if self._setup.is_own else QUIET["begins"]):
                    ran.progress.let(who, what)

    # Failures

    def _note_failures(self) -> None:
        """What has struck since; it is looked at afterwards."""
        for ran in self.cases:
            number = len(ran.fired)
            while number < len(ran.job.case.failures) and ran.placed.desk.has_struck(number):
                t, evidence = ran.placed.desk.struck(number)
                ran.fired.append(Fired(number, len(ran.observations), evidence, round(t - self._begun, 4)))
                self._committed.look()
                self._show(ran, always=True)
                failure = ran.job.case.failures[number]
                ran.fails(t, [failure.task] if isinstance(failure, Crash) else ())
                number += 1

    def _awaits_restart(self, epoch: int) -> bool:
        """Whether the job is to be stopped once this epoch is committed."""
        return any(isinstance(ran.armed, Restart) and ran.armed.epoch == epoch for ran in self.cases)

    def _restart_if_due(self) -> None:
        """Stop and start again, when the epoch after which that is to be has been committed."""
        wanted = [ran.armed.epoch for ran in self.cases if isinstance(ran.armed, Restart)]
        if wanted and not self._pending and all(self._shows(ran, min(wanted)) for ran in self.cases):
            self._restart(min(wanted))

    def _shows(self, ran: Ran, epoch: int) -> bool:
        """Whether an epoch of the case can be seen in every stream that is observed."""
        last = min(epoch, ran.job.case.epochs)
        if self._setup.is_own:
            return all(
                self._committed.shows_border(ran.placed.number, ran.placed.tap(stream), stream, last)
                for stream in ran.placed.streams
            )
        return bool(ran.observations) and all(len(shown) >= last for shown in ran.observations[-1].streams.values())

    def _restart(self, epoch: int) -> None:
        """Stop with a savepoint, and start from it."""
        try:
            target = f"file://{self._committed.folder}/savepoints"
            asked = self._rest.post(f"/jobs/{self._checkpoints.job}/stop", drain=False, targetDirectory=target)
            while True:
                told = self._rest.get(f"/jobs/{self._checkpoints.job}/savepoints/{asked['request-id']}")
                if told["status"]["id"] == "COMPLETED":
                    break
                sleep(LOOK)
        except (Refused, OSError) as error:
            self.message = f"it cannot be stopped: {error}"
            return
        location = told["operation"].get("location")
        if location is None:
            self.message = f"it cannot be stopped with a savepoint: {str(told['operation'])[:300]}"
            return
        savepoint = Path(location.removeprefix("file:"))
        self._committed.stopped(savepoint)
        self._observe()
        for ran in self.cases:
            if isinstance(ran.armed, Restart) and ran.armed.epoch == epoch:
                words = f"stopped with a savepoint when epoch {epoch} was committed, and started from it"
                ran.placed.desk.strike(len(ran.fired), words)
        self._note_failures()
        self._submit(savepoint)
        self._go_on()

    # What is seen

    def _observe(self, *, last: bool = False) -> None:
        self._looked = monotonic()
        self._committed.look()
        for ran in self.cases:
            self._show(ran, always=last, last=last)

    def _show(self, ran: Ran, *, always: bool, last: bool = False) -> None:
        case = ran.placed.number
        ends = self._committed.ends(case) if self._setup.is_own else self._closed[: ran.job.case.epochs]
        streams = {
            stream: self._committed.epochs(case, ran.placed.tap(stream), stream, ends, last=last)
            for stream in sorted(ran.placed.streams)
        }
        if always or not ran.observations or ran.observations[-1].streams != streams:
            ran.observations.append(Observation(streams, round(time() - self._begun, 4)))

    def observations(self, info: EngineInfo) -> Iterator[Observations]:
        """What was seen of each case, in their order."""
        for ran in self.cases:
            done = self._is_done(ran)
            yield Observations(
                digest(ran.job.case),
                tuple(ran.observations),
                info,
                self._setup.epochs,  # type: ignore[arg-type]
                atomic=False,
                snapshots=self._setup.snapshots,  # type: ignore[arg-type]
                fired=tuple(ran.fired),
                end="completed" if done else "error" if self.message else "stalled",
                message=None if done else self.message,
                overlapped=None if self._setup.is_own else len(ran.overlapped),
                in_flight=None if self._setup.is_own or self._setup.mode != UNALIGNED else ran.in_flight,
            )
