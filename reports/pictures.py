"""The space-time diagrams of a run: what happened, and the failure-free execution that explains it or comes closest."""

from collections.abc import Mapping, Sequence

from attrs import frozen
from markupsafe import Markup

from conformance.case import Case, Epochs
from conformance.judge import Budget, Conforms, judge
from conformance.observation import Observations
from conformance.reports.closest import closest
from conformance.reports.labels import format_count
from conformance.reports.spacetime import spacetime
from conformance.reports.timeline import MOST, Act, inferred, logged, replayed, with_looks

STEPS = 10_000
"""For finding a witness again: more than nearly all of them need, and less than anybody would notice."""

TRUE = "What its tasks did, as the engine logged it."
INFERRED = (
    "Inferred, as the engine does not log what its tasks do: a failure-free execution that shows {what}, when somebody "
    "looked, and between which looks failures happened. What was done in vain is not known."
)
WITNESS = "A failure-free execution that shows all that was observed."


@frozen
class Picture:
    """A diagram, and what it is of."""

    title: str
    about: str
    drawn: Markup


@frozen
class Explained:
    """What explains a run, or comes closest: its acts, when epochs are committed, and what it shows."""

    case: Case
    acts: tuple[Act, ...]
    commits: Mapping[int, int]
    looks: tuple[int, ...]
    shows: Mapping[str, Epochs]
    distance: int = 0


def explained(case: Case, seen: Observations) -> Explained | None:
    """The witness, found again; None where that takes longer than anybody would wait."""
    verdict = judge(case, seen, Budget(steps=STEPS))
    if not isinstance(verdict, Conforms) or verdict.witness is None:
        return None
    return Explained(verdict.case, *replayed(verdict.case, verdict.witness), verdict.at, {})


def nearest(case: Case, seen: Observations) -> Explained | None:
    """The failure-free execution that comes closest to what was seen."""
    found = closest(case, seen)
    if found is None:
        return None
    return Explained(found.case, *replayed(found.case, found.trace), (), found.shows, found.distance)


def pictures(
    case: Case, seen: Observations, found: Explained | None, log: Sequence[Act], *, conforms: bool, brief: bool = False
) -> tuple[Picture, ...]:
    """What happened, and beside it, where something is wrong, what could have."""
    drawn = []
    if log:
        drawn.append(Picture("What happened", TRUE, spacetime(case, log, "What happened", brief=brief)))
    elif found is not None and len(found.acts) <= MOST:
        acts = inferred(case, seen, found.acts, found.commits)
        about = INFERRED.format(what="the same" if conforms else "what comes closest")
        name = "What happened, inferred"
        drawn.append(
            Picture("What happened, inferred", about, spacetime(found.case, acts, name, inferred=True, brief=brief))
        )
    if found is not None and len(found.acts) <= MOST and not conforms:
        off = f"{format_count(found.distance, 'event')} away from it" if found.distance else "it ends in the same"
        about = f"The failure-free execution that comes closest to what was observed: {off}."
        name = "The closest failure-free execution"
        drawn.append(Picture("What could have been", about, spacetime(found.case, found.acts, name, brief=brief)))
    return tuple(drawn)


def witness(found: Explained | None, *, brief: bool) -> tuple[Picture, ...]:
    """A failure-free execution that explains a run, with the moments at which it shows what was observed."""
    if found is None or len(found.acts) > MOST:
        return ()
    acts = with_looks(found.acts, found.looks)
    drawn = spacetime(found.case, acts, "What explains it", brief=brief)
    return (Picture("What explains it", "" if brief else WITNESS, drawn),)


def log_of(case: Case, seen: Observations) -> tuple[Act, ...]:
    """What the engine logged, if it can be drawn."""
    return logged(case, seen.log)
