"""Results folders for tests of reports: small campaigns, run without a process for the engine."""

import random
from pathlib import Path

from attrs import evolve

from conformance.adapters.mutants import MUTANTS
from conformance.adapters.reference import Reference
from conformance.campaign.events import (
    CampaignEnded,
    CaseSize,
    Examined,
    FailureRate,
    Judged,
    Measured,
    Shrunk,
    broken_by,
)
from conformance.campaign.judging import judge_outcome
from conformance.campaign.plan import Plan, versions
from conformance.campaign.results import Results, slug
from conformance.codec import digest, write_text
from conformance.engine import RunRequest
from tests.campaign.test_journal import began

NAMES = ("paper-observed-execution", "paper-incremental-average", "unequal-diamond", "in-flight-kept", "empty-epochs")


def run(word, case):
    """Run a case on the reference or on a mutant."""
    if word.startswith("mutant:"):
        return MUTANTS[word.removeprefix("mutant:")](RunRequest(case)).run()
    (seen,) = Reference([]).run([RunRequest(case)])
    return seen


def add_times(seen, chance):
    """Add random times to observations."""
    t, shown, fired = 0.0, [], []
    for index, observation in enumerate(seen.observations):
        t += chance.uniform(0.1, 0.6)
        fired += [evolve(each, t=t) for each in seen.fired if each.before == index]
        t += chance.uniform(0.1, 0.6)
        shown.append(evolve(observation, t=t))
    return evolve(seen, observations=tuple(shown), fired=tuple(fired))


def write_campaign(folder, word="reference", *, names=NAMES, logs=True, change=lambda event: event, **changed):
    """Write the results folder of a finished campaign of some corpus cases, as `certify` does."""
    results = Results(Path(folder))
    results.make()
    chance = random.Random(0)
    suite, hypothesis = versions()
    first = began(engine=word, **({"cases": 0, "suite": suite, "hypothesis": hypothesis} | changed))
    planned = [each for each in Plan(generated=0) if names is None or each.id in names]
    events = [first]
    broken = {}
    for each in planned:
        seen = run(word, each.case)
        seen = seen if logs else add_times(evolve(seen, log=()), chance)
        results.save(each.id, each.case, seen)
        came, verdict = judge_outcome(each.case, seen)
        fired = len(seen.fired)
        events.append(
            Judged(
                each.index, each.id, digest(each.case), came, verdict.because, findings=verdict.findings, fired=fired
            )
        )
        for finding in verdict.findings:
            broken.setdefault(broken_by(finding), (each, seen, verdict))
    for number, (guarantee, (each, seen, verdict)) in enumerate(broken.items(), start=1):
        results.save_counterexample(number, each.case, seen)
        events.append(Examined(each.index, FailureRate(1, 1), "violates", "conforms"))
        how = (FailureRate(20, 20), False, CaseSize.of(each.case), CaseSize.of(each.case), 9, verdict.findings)
        file = f"counterexamples/{number}.json"
        events.append(Shrunk(guarantee, each.index, each.id, file, digest(each.case), *how))
    events += [Measured(len(planned), len(MUTANTS) - 1, ("too-early",)), CampaignEnded()]
    with results.journal() as journal:
        for event in events:
            journal.write(change(event))
    return Path(folder)


def write_campaigns(folder, *words, **more):
    """Write one results folder with the campaigns of several engines."""
    Path(folder).mkdir()
    quoted = ", ".join(f'"{word}"' for word in words)
    write_text(Path(folder) / "engines.json", f'{{"engines": [{quoted}]}}\n')
    for word in words:
        write_campaign(Path(folder) / slug(word), word, **more)
    return Path(folder)
