"""The reference model as an engine: it can do everything, and never shows a failure."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from conformance import __version__
from conformance.codec import digest
from conformance.engine import Description, RunRequest
from conformance.errors import UnknownEngine
from conformance.model.configuration import Configuration, Rule, Step, initial
from conformance.model.execution import RandomScheduler, execution, holding
from conformance.model.injection import ScheduledInjector
from conformance.model.snapshot import gce, observed
from conformance.model.trace import step_effect
from conformance.observation import EngineInfo, Fired, Observation, Observations

OBSERVATION_ODDS = 0.5
"""The probability of an observation after a commit. After every failure, and at the end, there always is one."""

OBSERVED = {"do": "look"}
"""An entry of the log, which `reports.timeline` reads: the output is observed."""


class Reference:
    """The model under a seeded scheduler, with the case's failures and holds."""

    def __init__(self, settings: Sequence[str]) -> None:
        if settings:
            raise UnknownEngine(f"reference has no setting {settings[0]!r}; it has none")

    def start(self) -> Description:
        return Description(EngineInfo("reference", __version__))

    def run(self, requests: Sequence[RunRequest]) -> Iterator[Observations]:
        for request in requests:
            yield _run(request)

    def stop(self) -> None:
        """Nothing was started."""


def _run(request: RunRequest) -> Observations:
    case = request.case
    random = Random(f"{request.seed}/{digest(request.case)}")
    injector = ScheduledInjector(case.failures, random)
    c = initial(case)
    shown = [_observe(c, request)]
    log: list[dict[str, Any]] = [OBSERVED]
    fired: list[Fired] = []
    failed = False
    committed = 0
    for step, after in execution(c, holding(case, RandomScheduler(random)), injector):
        log.append(_log_entry(c, step, after))
        c = after
        if step.rule is Rule.FAIL and injector.fired > len(fired):
            fired.append(Fired(len(fired), len(shown), f"the model took F-Fail: {step}"))
            failed = True
        elif step.rule is not Rule.FAIL and (failed or (gce(c) > committed and random.random() < OBSERVATION_ODDS)):
            shown.append(_observe(c, request))
            log.append(OBSERVED)
            failed = False
            committed = gce(c)
    shown.append(_observe(c, request))
    log.append(OBSERVED)
    info = EngineInfo("reference", __version__)
    return Observations(digest(case), tuple(shown), info, fired=tuple(fired), log=tuple(log))


def _log_entry(before: Configuration, step: Step, after: Configuration) -> dict[str, Any]:
    """Describe a step for the log: the event it handled and the messages it sent."""
    if step.rule is Rule.RECOVER:
        return {"do": "recover", "epoch": gce(after)}
    if step.rule is Rule.FAIL:
        return {"do": "fail", "task": step.task}
    effect = step_effect(before, step, after)
    entry: dict[str, Any] = {"do": step.rule.value, "task": step.task, "epoch": effect.epoch}
    if step.rule is Rule.EVENT:
        entry |= {"stream": step.stream, "seq": effect.seq, "value": effect.value}
    return entry | {"sends": list(map(list, effect.sends))}


def _observe(c: Configuration, request: RunRequest) -> Observation:
    return Observation({stream: epochs for stream, epochs in observed(c).items() if stream in request.streams})
