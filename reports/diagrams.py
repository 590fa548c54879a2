"""
The space-time diagrams of a run: what happened, and the failure-free execution that explains it or comes closest.

What happened is drawn from the engine's log. Without a log it is inferred from a failure-free execution.
"""

from collections.abc import Mapping

from attrs import field, frozen
from markupsafe import Markup

from conformance.case import Case, Epochs
from conformance.judge import Budget, Conforms, judge
from conformance.observation import Observations
from conformance.reports.closest_execution import find_closest_execution
from conformance.reports.labels import format_count
from conformance.reports.spacetime import draw_spacetime
from conformance.reports.timeline import MAX_ENTRIES, Timeline, add_observations, infer_timeline, replay

WITNESS_STEPS = 10_000
"""Budget of the judge when it finds a witness again: enough for nearly all cases, and quick."""

LOGGED = "What its tasks did, as the engine logged it."
INFERRED = (
    "Inferred, as the engine does not log what its tasks do: a failure-free execution that shows {what}, with the "
    "observations and, between them, the failures. The work lost with a failure is not known."
)
WITNESS = "A failure-free execution that shows all that was observed."


@frozen
class Diagram:
    """A drawing with its title and caption."""

    title: str
    caption: str
    svg: Markup


@frozen
class FailureFreeExecution:
    """A failure-free execution of a case: a witness that explains a run, or the closest execution to it."""

    case: Case
    timeline: Timeline
    commits: Mapping[int, int]
    """After how many entries each epoch is committed."""
    observations: tuple[int, ...] = ()
    """After how many entries a witness shows each observation."""
    streams: Mapping[str, Epochs] = field(factory=dict)
    distance: int = 0
    """Events by which it differs from the run."""

    @property
    def is_readable(self) -> bool:
        """Whether its diagram is small enough to be read."""
        return len(self.timeline) <= MAX_ENTRIES


def find_witness(case: Case, observed: Observations) -> FailureFreeExecution | None:
    """Find the witness of a conforming run again; None where the budget is too small."""
    verdict = judge(case, observed, Budget(steps=WITNESS_STEPS))
    if not isinstance(verdict, Conforms) or verdict.witness is None:
        return None
    return FailureFreeExecution(verdict.case, *replay(verdict.case, verdict.witness), observations=verdict.at)


def find_closest(case: Case, observed: Observations) -> FailureFreeExecution | None:
    """Find the failure-free execution closest to a violating run; None where the case is too large."""
    closest = find_closest_execution(case, observed)
    if closest is None:
        return None
    timeline, commits = replay(closest.case, closest.trace)
    return FailureFreeExecution(closest.case, timeline, commits, streams=closest.streams, distance=closest.distance)


def draw_run(
    case: Case,
    observed: Observations,
    execution: FailureFreeExecution | None,
    log: Timeline,
    *,
    conforms: bool,
    brief: bool = False,
) -> tuple[Diagram, ...]:
    """Draw what happened and, if the run does not conform, the closest failure-free execution."""
    diagrams = []
    if log:
        diagrams.append(Diagram("What happened", LOGGED, draw_spacetime(case, log, "What happened", brief=brief)))
    if execution is None or not execution.is_readable:
        return tuple(diagrams)
    if not log:
        title = "What happened, inferred"
        caption = INFERRED.format(what="the same" if conforms else "what comes closest")
        timeline = infer_timeline(case, observed, execution.timeline, execution.commits)
        svg = draw_spacetime(execution.case, timeline, title, inferred=True, brief=brief)
        diagrams.append(Diagram(title, caption, svg))
    if not conforms:
        events = format_count(execution.distance, "event")
        distance = f"{events} away from it" if execution.distance else "it ends in the same"
        caption = f"The failure-free execution that comes closest to what was observed: {distance}."
        name = "The closest failure-free execution"
        svg = draw_spacetime(execution.case, execution.timeline, name, brief=brief)
        diagrams.append(Diagram("What could have been", caption, svg))
    return tuple(diagrams)


def draw_witness(witness: FailureFreeExecution | None, *, brief: bool) -> tuple[Diagram, ...]:
    """Draw a witness, with the observations where it shows them."""
    if witness is None or not witness.is_readable:
        return ()
    timeline = add_observations(witness.timeline, witness.observations)
    svg = draw_spacetime(witness.case, timeline, "What explains it", brief=brief)
    return (Diagram("What explains it", "" if brief else WITNESS, svg),)
