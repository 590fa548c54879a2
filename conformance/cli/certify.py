"""`conformance certify`: run campaigns on engines and write their certificates."""

import json
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from conformance import interruption
from conformance.campaign.events import Began, CampaignEvent
from conformance.campaign.executor import Executor
from conformance.campaign.journal import encode_event, read_events
from conformance.campaign.plan import PROFILES, plan_of
from conformance.campaign.results import (
    JOURNAL,
    KEPT,
    LATEST,
    SEVERAL,
    Results,
    engines_in,
    existing_ancestor,
    point_latest,
    remove_unused,
    slug,
)
from conformance.campaign.session import CampaignConfig, begin_all, new_folder
from conformance.campaign.session import certify as certify_one
from conformance.campaign.session import resume as resume_one
from conformance.campaign.tally import EngineVerdict, Tally
from conformance.cli.demonstration import demonstrate
from conformance.cli.executors import executors
from conformance.cli.options import FILE, as_json, on
from conformance.cli.progress import progress
from conformance.cli.say import say
from conformance.cli.side_by_side import compare_engines
from conformance.cli.verdicts import worst
from conformance.codec import write_text
from conformance.errors import ConformanceError, Unreadable, Unwritable, printable
from conformance.registry import standalone_names
from conformance.reports.folder import ReportFailure, finish, try_write_report
from conformance.reports.summary import summarize, summarize_line
from conformance.settings import KEEP, Keep, read_settings

RESULTS = Path("build") / "conformance"
REFERENCE = "reference"

EXIT: dict[EngineVerdict, int] = {"conforms": 0, "violates": 1, "inconclusive": 3, "unsupported": 3, "error": 4}


@click.command()
@click.argument("engines", nargs=-1)
@click.option(
    "--profile", type=click.Choice(list(PROFILES)), help="The number of generated cases: 100, 1,000 or 10,000."
)
@click.option("--cases", type=click.IntRange(min=0), help="Another number of generated cases.")
@click.option("--seed", type=click.IntRange(min=0), help="The seed of the generated cases; 0 by default.")
@click.option("--out", type=FILE, help="The folder for the results; by default a new one in build/conformance.")
@click.option("--resume", is_flag=True, help="Continue the campaign in that folder, or the latest one.")
@click.option("--deadline", type=click.FloatRange(min=0, min_open=True), help="Seconds for one case; 60 by default.")
@click.option("--shrink-runs", type=click.IntRange(min=0), help="Engine runs for each counterexample; 500.")
@click.option(
    "--shrink-seconds", type=click.FloatRange(min=0, min_open=True), help="Seconds for all counterexamples; 300."
)
@click.option("--keep", type=click.Choice(KEEP), help="The runs whose engine files are kept; failed ones by default.")
@on
@as_json
def certify(
    engines: tuple[str, ...],
    out: Path | None,
    resume: bool,
    keep: Keep | None,
    on: str | None,
    as_json: bool,
    **asked: Any,
) -> int:
    """
    Certify ENGINES: run and judge the corpus and generated cases, shrink violations, write certificates and reports.

    Without ENGINES, every engine that can run here is certified, and those that cannot are named, with the reason.
    Several engines run the same cases, together with the reference model, and are compared. With --on, a Spark cluster
    draws cases, runs the reference model and mutants, and judges.
    """
    with executors(on) as make_executor:
        return _certify(engines, out, make_executor, resume=resume, keep=keep, as_json=as_json, asked=asked)


def _certify(
    engines: tuple[str, ...],
    out: Path | None,
    make_executor: Callable[[], Executor],
    *,
    resume: bool,
    keep: Keep | None,
    as_json: bool,
    asked: dict[str, Any],
) -> int:
    settings = read_settings(Path.cwd())
    keep = keep or settings.get("keep", "failed")
    out = out or (Path(settings["out"]) if "out" in settings else None)
    names = list(engines or settings.get("engines", ()))
    _check_names(names)
    all_engines = not names and not resume
    if all_engines:
        names = standalone_names()
        if not as_json:
            demonstrate()
    existing = existing_ancestor(out or RESULTS)
    with interruption.deferred_interruption() as interrupted:
        top = _folder(["engines"] if all_engines else names, out, resume=resume)
        if resume and not engines and (top / SEVERAL).is_file():
            names = list(engines_in(top))
        folders = _find_campaigns(top, engines) if resume else {}
        try:
            if not folders:
                config = _make_config(settings, asked)
                folders, campaigns = _begin(top, names, config, make_executor, keep, skip_unavailable=all_engines)
            else:
                _refuse_changes(folders, asked)
                campaigns = {name: resume_one(Results(folder), make_executor, keep) for name, folder in folders.items()}
            tallies, errors = _run(campaigns, top, as_json=as_json)
            return _show(top, folders, tallies, errors, as_json=as_json)
        except BaseException as error:
            # The signal may have broken something else first: a process that it has reached, too, or a library.
            if not interrupted.is_requested and not isinstance(error, KeyboardInterrupt):
                raise
            say(_describe_interruption(top, folders), err=True)
            raise KeyboardInterrupt from None
        finally:
            remove_unused(top, existing)


def _show(
    top: Path, folders: Mapping[str, Path], tallies: Mapping[str, Tally], errors: Sequence[int], *, as_json: bool
) -> int:
    """Write and print the results, the comparison of the engines and the report; return the exit code."""
    for name, tally in tallies.items():
        interruption.check()
        finish(folders[name])
        if not as_json and (len(folders) == 1 or tally.verdict[0] != "conforms"):
            say("\n".join(summarize(tally, str(folders[name]))))
        if (kept := folders[name] / KEPT).is_dir():
            say(f"files that {name} left: {kept}", err=True)
    if not as_json and len(folders) > 1:
        say("\n".join(summarize_line(tally) for tally in tallies.values()))
    if len(tallies) > 1:
        both = {name: (tally, Results(folders[name])) for name, tally in tallies.items()}
        compare_engines(top, both, as_json=as_json)
    interruption.check()
    if tallies:
        errors = [*errors, *_write_report(top)]
    return worst([*errors, *(EXIT[tally.verdict[0]] for tally in tallies.values())])


def _check_names(names: Sequence[str]) -> None:
    """Refuse names with which a campaign would not do what it seems to."""
    for name, times in Counter(names).items():
        if times > 1:
            raise click.UsageError(f"{name} is named {times} times; an engine has one campaign. Name it once.")
        if name == "mutant":
            raise click.UsageError(
                "Name one of the broken engines, as in `certify mutant:aliased`; `conformance mutants` lists them. "
                "mutant:plain is the same machine without a bug."
            )


def _write_report(top: Path) -> list[int]:
    """Write the HTML report; return the exit code if that fails."""
    report = try_write_report(top)
    if isinstance(report, ReportFailure):
        say(
            f"The HTML report could not be written: {report.because}\n"
            "The results and the certificate are complete. "
            f"Try again: {shlex.join(['conformance', 'report', str(top)])}",
            err=True,
        )
        return [report.exit_code]
    say(f"report: {report}", err=True)
    return []


def _refuse_changes(folders: dict[str, Path], asked: dict[str, Any]) -> None:
    """Refuse options that differ from those that a campaign began with."""
    for folder in folders.values():
        began = _began(folder)
        for name, value in asked.items():
            if value is not None and value != getattr(began, name):
                option = f"--{name.replace('_', '-')}"
                raise click.UsageError(
                    f"The campaign in {folder} began with {option} {getattr(began, name)}. "
                    f"Omit {option} to resume this campaign, or omit --resume to start a new one."
                )


def _make_config(settings: dict[str, Any], asked: dict[str, Any]) -> CampaignConfig:
    """Make the configuration from the command line, then the project's settings, then the defaults."""
    from_settings = {name: value for name, value in settings.items() if name in asked}
    return CampaignConfig(**(from_settings | {name: value for name, value in asked.items() if value is not None}))


def _folder(names: Sequence[str], out: Path | None, *, resume: bool) -> Path:
    if out is not None:
        return out
    if resume:
        # The folder itself, because the link may point elsewhere before the campaign ends.
        latest = RESULTS / LATEST
        return RESULTS / latest.readlink() if latest.is_symlink() else latest
    return new_folder(RESULTS, names)


def _find_campaigns(top: Path, names: Sequence[str]) -> dict[str, Path]:
    """Return the campaigns of a folder; empty if none began there and the engines to start with are known."""
    several = top / SEVERAL
    if several.is_file():
        begun = {name: top / slug(name) for name in engines_in(top)}
        has_begun = all(Results(folder).begun for folder in begun.values())
    else:
        has_begun = Results(top).begun
        begun = {_began(top).engine: top} if has_begun else {}
    if not has_begun:
        if names or several.is_file():
            return {}
        raise Unreadable(str(top), "no campaign was begun in it", "Name the engines to start one.")
    if names and set(names) - {REFERENCE} != set(begun) - {REFERENCE}:
        hint = "Omit the engines to resume this campaign, or omit --resume to start a new one."
        raise Unreadable(str(top), f"the campaign in it is on {', '.join(begun)}", hint)
    return begun


def _began(folder: Path) -> Began:
    began = read_events(folder / JOURNAL)[0]
    if not isinstance(began, Began):
        raise Unreadable(
            str(folder / JOURNAL),
            "its first line is not how a campaign begins",
            "Start a new campaign in another folder.",
        )
    return began


def _begin(
    top: Path,
    names: list[str],
    config: CampaignConfig,
    make_executor: Callable[[], Executor],
    keep: Keep,
    *,
    skip_unavailable: bool,
) -> tuple[dict[str, Path], dict[str, Iterator[CampaignEvent]]]:
    """Begin a campaign; return the folder and the events of each engine."""
    if len(names) == 1:
        return {names[0]: top}, {names[0]: certify_one(names[0], config, top, make_executor, keep)}
    names += [REFERENCE] if REFERENCE not in names else []
    folders = {name: top / slug(name) for name in names}
    if len(set(folders.values())) < len(folders):
        raise click.UsageError(f"Two of these engines would have the same folder: {', '.join(names)}.")
    if all(Results(folder).begun for folder in folders.values()):
        raise Unwritable(
            str(top), "the folder has a campaign already", "Give a new folder, or --resume to continue it."
        )
    for folder in folders.values():
        Results(folder).discard_unstarted()
    try:
        top.mkdir(parents=True, exist_ok=True)
        write_text(top / SEVERAL, json.dumps({"engines": names}) + "\n")
    except OSError as error:
        raise Unwritable(str(top), error.strerror or str(error), "Give another folder.") from None
    try:
        skipped = begin_all(config, folders, _say_starting, skip_unavailable=skip_unavailable)
    except BaseException:
        if not any(Results(folder).begun for folder in folders.values()):
            (top / SEVERAL).unlink(missing_ok=True)
        raise
    for name, why in skipped.items():
        say(f"{name} cannot run here: {why}", err=True)
        remove_unused(folders.pop(name), top)
    if skipped:
        write_text(top / SEVERAL, json.dumps({"engines": list(folders)}) + "\n")
    return folders, {name: resume_one(Results(folder), make_executor, keep) for name, folder in folders.items()}


def _say_starting(name: str) -> None:
    """Say that an engine is being started, which can take several seconds, for what all engines have in common."""
    say(f"{name}: starting, to ask what it can do", err=True)


def _run(
    campaigns: dict[str, Iterator[CampaignEvent]], top: Path, *, as_json: bool
) -> tuple[dict[str, Tally], list[int]]:
    """
    Run every campaign; return the tallies, and the exit codes of campaigns that failed.

    Engines take turns: only an engine that stalls alone on the machine is convicted of it.
    """
    tallies: dict[str, Tally] = {}
    errors = []
    with progress() as display:
        for name, campaign in campaigns.items():
            tally = Tally()
            display.start(name)
            try:
                for event in campaign:
                    tally.add(event)
                    if isinstance(event, Began):
                        display.begin(len(plan_of(event)))
                        point_latest(top, within=RESULTS)
                    display.follow(event, tally)
                    if as_json:
                        click.echo(json.dumps(encode_event(event)))
                tallies[name] = tally
            except ConformanceError as error:
                if len(campaigns) == 1:
                    raise
                say(printable(f"{name}: {type(error).__name__}: {error}"), err=True)
                errors.append(error.exit_code)
    return tallies, errors


def _describe_interruption(top: Path, folders: Mapping[str, Path]) -> str:
    if not folders or not all(Results(folder).begun for folder in folders.values()):
        return "\nInterrupted before the first case. There is nothing to resume."
    command = shlex.join(["conformance", "certify", "--resume", "--out", str(top)])
    return f"\nInterrupted. All finished cases are saved. Continue with:\n  {command}"
