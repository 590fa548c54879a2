"""The summary of a campaign as plain text, for the terminal and for test reports."""

import shlex
from collections.abc import Iterator

from conformance.campaign.certificate import meaning, reproduction
from conformance.campaign.events import GUARANTEES, Examined, Guarantee, broken_by
from conformance.campaign.tally import Tally
from conformance.errors import printable


def describe_violation(tally: Tally, guarantee: Guarantee, folder: str = "") -> str:
    """Describe how a guarantee is broken: the finding, how often it fails, and the command that shows it."""
    violations = list(tally.violations(guarantee))
    shrunk = tally.shrunk.get(guarantee)
    findings = shrunk.findings if shrunk else violations[0].findings
    lines = [f"{each.diagnosis}: {each.because}" for each in findings if broken_by(each) == guarantee][:1]
    lines.append(f"Broken in {len(violations)} of {len(tally.judged)} cases, first in {violations[0].id}.")
    if shrunk is not None:
        lines.append(f"The smallest case found ({shrunk.after}) fails in {shrunk.rate}.")
    if (examined := tally.examined.get(shrunk.index if shrunk else violations[0].index)) is not None:
        lines += describe_examination(examined)
    if shrunk is not None:
        lines.append(f"See it: {reproduction(tally, shrunk, folder)}")
    return "\n".join(map(printable, lines))


def describe_examination(examined: Examined) -> Iterator[str]:
    """Describe the runs that examined a violation: alone, in its batch, by its sinks, without its failures."""
    if examined.alone.runs and examined.alone.failed < examined.alone.runs:
        yield f"The case it comes from failed again, alone, in {examined.alone}."
    if examined.batch is not None:
        yield f"The cases that ran beside it, as one case, failed in {examined.batch}."
    without_failures = examined.without_failures or "not run"
    yield f"Judged by its sinks alone: {examined.sinks}. Run without its failures: {without_failures}."


def summarize(tally: Tally, folder: str) -> Iterator[str]:
    """Summarize a campaign line by line; the commands to run next come last."""
    return map(printable, _list_lines(tally, folder))


def format_places(tally: Tally) -> str:
    """Count the cases that ran in each place; the empty string for an engine that runs in one place only."""
    return ", ".join(f"{place} {len(cases)}" for place, cases in tally.places.items())


def summarize_line(tally: Tally) -> str:
    """Summarize a campaign in one line: the verdict and what it means."""
    engine = tally.began.engine if tally.began else "engine"
    verdict, because = tally.verdict
    return printable(" ".join(filter(None, [f"{engine}: {verdict}. {because}", meaning(tally)])))


def _list_lines(tally: Tally, folder: str) -> Iterator[str]:
    verdict, because = tally.verdict
    engine = tally.began.engine if tally.began else "engine"
    yield f"{engine}: {verdict}. {because}"
    counts = tally.counts()
    yield "  " + ", ".join(f"{number} {outcome}" for outcome, number in counts.most_common())
    if places := format_places(tally):
        yield f"  ran in: {places}"
    for guarantee in GUARANTEES:
        yield f"  {guarantee:18} {tally.guarantee_verdict(guarantee)}"
    if confidence := meaning(tally):
        yield f"  {confidence}"
    if tally.measured is not None:
        total = tally.measured.killed + len(tally.measured.survived)
        yield f"  The same cases convict {tally.measured.killed} of {total} engines that are broken on purpose."
    for guarantee in GUARANTEES:
        if any(tally.violations(guarantee)):
            yield f"  {guarantee} is broken:"
            yield from (f"    {line}" for line in describe_violation(tally, guarantee, folder).splitlines())
    yield f"  results: {folder}"
    yield f"  verify them: {shlex.join(['conformance', 'verify', f'{folder}/certificate.json'])}"
